"""Questions of other processes: an agent outside asks, and the person at this window answers."""
