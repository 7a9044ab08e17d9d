"""Memories as files in a folder that others write to as well."""

import contextlib
import os
from collections.abc import Iterator
from contextlib import contextmanager

from memtui.fs.locks import hold_lock
from memtui.store.base import Transaction
from memtui.store.open_folder import WritableFolder
from memtui.store.recovery import UNTIDY
from memtui.store.writer import FolderTransaction, ReadOnlyTransaction


class FolderStore(WritableFolder):
    """A directory of memory files that may be changed. Every file is moved into place whole."""

    @contextmanager
    def begin_transaction(self, seconds: float) -> Iterator[Transaction]:
        """See `Store.begin_transaction`. The lock is the kernel's: it goes when its process does."""
        if self.state_fd < 0:
            yield ReadOnlyTransaction()
            return
        with hold_lock(self.state_fd, seconds, self._locking):
            self._check_root()
            transaction = FolderTransaction(self)
            if not self.is_clean and os.access(UNTIDY, os.F_OK, dir_fd=self.state_fd):
                self.is_clean = True  # once: what cannot be removed now must not make every command slow
                with contextlib.suppress(OSError):
                    transaction.clean_up(only_judged=True)
            yield transaction
