"""Files that are attached."""

import os
from pathlib import Path

import pytest

from memtui.agents.chat.events import Attachment, Model
from memtui.agents.chat.history import IMAGE_BYTES, TEXT_BYTES, AttachmentError, read_attachment, validate_attachment


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"plain text\n", "text/plain"),
        ("Grüße".encode(), "text/plain"),
        (b"\x89PNG\r\n\x1a\n....", "image/png"),
        (b"\xff\xd8\xff\xe0....", "image/jpeg"),
        (b"GIF89a....", "image/gif"),
        (b"RIFF....WEBPVP8 ", "image/webp"),
        (b"%PDF-1.7 ...", "application/pdf"),
    ],
)
def test_what_kind_a_file_is_its_bytes_tell(tmp_path: Path, data: bytes, kind: str) -> None:
    path = tmp_path / "file.exe"
    path.write_bytes(data)
    assert read_attachment(path) == Attachment("file.exe", kind, data)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty."),
        (b"\x00\x01\x02", "is not a text, PNG, JPEG, GIF, WebP or PDF file."),
        (b"\xff\xfe\xfd", "is not a text, PNG"),
        (b"a" * (TEXT_BYTES + 1), "is too large: 1.0 MB. The limit for a text file is 1 MB."),
        (b"\x89PNG\r\n\x1a\n" + b"." * IMAGE_BYTES, "is too large: 5.0 MB. The limit for an image is 5 MB."),
    ],
)
def test_what_no_model_takes_is_not_attached(tmp_path: Path, data: bytes, words: str) -> None:
    path = tmp_path / "odd\x1b.bin"
    path.write_bytes(data)
    with pytest.raises(AttachmentError) as caught:
        read_attachment(path)
    assert str(caught.value).startswith("Not attached: odd\\x1b.bin ")
    assert words in str(caught.value)


def test_what_is_no_file_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/zero"), tmp_path / "nowhere", Path("a\0b")):
        with pytest.raises(AttachmentError):
            read_attachment(path)


def test_what_the_model_does_not_take_is_said() -> None:
    blind = Model("m", "Blind", sees_images=False, reads_pdf=False)
    assert (
        validate_attachment(Attachment("a.png", "image/png", b"x"), blind)
        == "a.png is an image, which Blind does not accept."
    )
    assert (
        validate_attachment(Attachment("a.pdf", "application/pdf", b"x"), blind)
        == "a.pdf is a PDF, which Blind does not accept."
    )
    assert validate_attachment(Attachment("a.md", "text/plain", b"x"), blind) is None
    assert validate_attachment(Attachment("a.png", "image/png", b"x"), Model("m")) is None
