"""What a person settles once, in a file, in the environment and with flags.

memtui is a program that one starts in many folders; what holds for all of them is said here. Nothing in a memory folder
is ever taken for a setting: an agent could write it.
"""

from memtui.config.loading import DEFAULT as DEFAULT
from memtui.config.loading import Loaded as Loaded
from memtui.config.loading import config_path as config_path
from memtui.config.loading import load as load
from memtui.config.reading import NoConfig as NoConfig
from memtui.config.reading import Problem as Problem
from memtui.config.sections import Chat as Chat
from memtui.config.sections import Config as Config
from memtui.config.sections import Editor as Editor
from memtui.config.sections import Ui as Ui
