"""Settings from a file, the environment and flags.

memtui is a program that one starts in many folders; what holds for all of them is said here. Nothing in a memory folder
is ever taken for a setting: an agent could write it.
"""

from memtui.config.load import DEFAULT as DEFAULT
from memtui.config.load import ConfigProblem as ConfigProblem
from memtui.config.load import ConfigUnreadable as ConfigUnreadable
from memtui.config.load import LoadedConfig as LoadedConfig
from memtui.config.load import load_config as load_config
from memtui.config.load import resolve_places as resolve_places
from memtui.config.settings import ChatSettings as ChatSettings
from memtui.config.settings import Config as Config
from memtui.config.settings import EditorSettings as EditorSettings
from memtui.config.settings import UiSettings as UiSettings
