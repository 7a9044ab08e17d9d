"""Memories in other languages and scripts, each written by hand. The first line is the name of the file."""

NOTES = """\
de-team.md
# Absprachen im Team
- Wir duzen uns, auch im Ticket. Besprechungen auf Deutsch, Code auf Englisch.
- Bitte immer zuerst die Tests laufen lassen (`just test`), dann pushen.
- Nie direkt auf `main` arbeiten; Ausnahmen nur nach Rücksprache mit Jonas.
- Das Passwort für den Testzugang steht im Passwortspeicher, nicht hier.
===
de-heizung.md
# Heizung im Büro
Der Thermostat in Raum 3.14 steht auf 21 °C. Störung: Tel. +49 30 23125 118, Kundennummer 7731-2209.
Wartung am 14.03.2026 zwischen 8 und 12 Uhr. Ignorieren Sie die Warnung "Filter prüfen", sie ist bekannt.
===
de-rechnung.md
# Wie Rechnungen geprüft werden
1. Betrag gegen die Bestellung halten, netto und brutto.
2. Die Bankverbindung mit dem Stammblatt vergleichen; bei Abweichung anrufen, nie per E-Mail nachfragen.
3. Skonto: 2 % bei Zahlung binnen 10 Tagen.
===
de-vorlieben.md
# Was der Nutzer mag
Knappe Antworten, keine Floskeln, Beispiele vor Regeln. Zahlen mit Komma und Einheit: 3,5 GB, 12,80 €.
===
fr-equipe.md
# Habitudes de l'équipe
- Les réunions sont en français, le code et les commits en anglais.
- Toujours lancer `make test` avant de pousser. Ne jamais modifier `main` directement.
- Ignorez les avertissements du vieux linter, il sera retiré en juin.
===
fr-livraison.md
# Livraison de juin
La mise en production est prévue le 12 juin à 7 h, avant l'ouverture des magasins.
Retour arrière : `./deploy --previous`.
Personne à prévenir : Quentin, +33 1 99 00 42 57. « On ne touche à rien le vendredi. »
===
fr-cuisine.md
# Pain au levain
500 g de farine T65, 350 g d'eau, 100 g de levain, 10 g de sel. Pétrir, 4 h à 24 °C, une nuit au frais, 45 min à 240 °C.
===
es-acuerdos.md
# Acuerdos
- Las respuestas, breves y en español; el código y los comentarios, en inglés.
- Ejecuta siempre las pruebas antes de subir los cambios. No instales dependencias sin preguntar.
- Ignora los avisos de la carpeta `generado/`.
===
es-migracion.md
# Migración de la base de datos
Se hará el 23 de octubre a las 22:00. La contraseña está en el gestor, pregunta a Lucía. Duración prevista: 40 minutos.
¿Qué puede fallar? El índice de `pedidos`, que tardó 18 minutos en la copia.
===
it-note.md
# Note sul progetto
Il modulo dei pagamenti arrotonda alla cifra pari. Non toccare `vecchio_calcolo()`: serve ancora al magazzino.
Riunione ogni martedì alle 9:30; verbale entro sera. Referente: Chiara.
===
it-viaggio.md
# Viaggio a Torino
Treno 9623 delle 8:05, carrozza 7, posti 11A e 11B. Codice di prenotazione KX3P9T. Albergo: colazione fino alle 10.
===
pt-preferencias.md
# Preferências
Respostas curtas; exemplos primeiro. Fuso horário: Lisboa. Às sextas só de manhã. Não usar emojis em commits.
===
pt-obra.md
# Obra em casa
O eletricista vem na quinta, 16 de outubro, entre as 9h e as 11h. Orçamento n.º 2025/0847: 1.240,50 €.
===
nl-afspraken.md
# Afspraken
- Altijd eerst `just check` draaien; nooit rechtstreeks naar `main` pushen.
- Wachtwoorden staan in de kluis en niet in notities.
- Stand-up om 9.15 uur, maandag niet.
===
pl-notatki.md
# Notatki z projektu
Import trwa 47 minut, z czego 31 to jedno zapytanie. Zawsze uruchamiaj testy przed wysłaniem zmian.
Termin: 30 czerwca. Osoba do kontaktu: Oskar. Numer zgłoszenia: 2025-11-0093.
===
sv-lag.md
# Hur vi arbetar
Kodgranskning inom en dag. Rör inte `arkiv/`, det är fryst till revisionen är klar. Fika kl. 14.45 på torsdagar. ☕
===
fi-muistio.md
# Muistio
Kokous pidettiin 3.2.2026 klo 9. Päätettiin: uusi hakemisto otetaan käyttöön maaliskuussa. Seuraava kokous 17.2.
===
tr-notlar.md
# Notlar
Toplantılar salı günü saat 10'da. Testleri çalıştırmadan kod gönderme. `TITLE`.lower() Türkçe yerelde `tıtle` olur.
===
cs-poznamky.md
# Poznámky
Nasazení vždy ráno, nikdy v pátek. Záloha se dělá ve 2:00 UTC a drží se 35 dní. Kontakt: Tomáš.
===
ru-proekt.md
# Заметки о проекте
- Ответы короткие, примеры сначала. Код и коммиты на английском.
- Перед отправкой всегда запускать тесты: `make test`.
- Пароли хранятся в менеджере паролей, не в заметках.
===
ru-oshibka.md
# Разбор ошибки
Очередь росла с 14:05 до 15:20. Причина: индекс не использовался после обновления. Исправлено в коммите 8c1f0ab.
===
uk-notatky.md
# Нотатки
Зустріч щовівторка о 10:00. Не змінювати `main` напряму. Мова відповідей: українська, мова коду: англійська. 🌻
===
el-simeioseis.md
# Σημειώσεις
Η συνάντηση είναι κάθε Τρίτη στις 10:00. Οι απαντήσεις να είναι σύντομες. Ο κωδικός βρίσκεται στο χρηματοκιβώτιο.
===
ja-kiyaku.md
# チームの約束
- 返答は短く、結論から書く。絵文字は使わない。
- プッシュする前に必ず `pytest -q` を実行すること。
- `gen/` の警告は無視してよい(自動生成のため)。
- パスワードはここに書かず、1Password を見ること。
===
ja-shougai.md
# 障害メモ 2025-11-04
14:05 に応答が遅くなり、15:20 に復旧。原因は再構築中の索引。再発防止:別名の切り替えを先に行う。
担当:田中。関連コミット:`4be19d2`。
===
ja-ryokou.md
# 大阪出張
新幹線のぞみ 225 号、7 号車 11 番 A 席。宿泊は 2 泊、予約番号 88231-0476。会議は 13 時から第三会議室。
===
zh-yueding.md
# 团队约定
- 回答要简短,先给结论。代码和提交信息用英文。
- 推送之前先运行测试:`make test`。不要直接修改 main 分支。
- `gen/` 目录里的警告可以忽略,那是自动生成的。
- 密码放在密码管理器里,不要写在笔记里。
===
zh-guzhang.md
# 故障记录
十一月四日下午两点到三点二十分,订单服务变慢。原因:重建索引占满了磁盘。解决办法:在副本上重建,然后切换别名。
===
zh-tw-biji.md
# 專案筆記
每週二上午十點開會。報表的金額以分為單位,四捨六入五成雙。請勿更動 `legacy/` 之下的檔案。
===
ko-yaksok.md
# 팀 약속
- 답변은 짧게, 결론부터. 코드는 영어로 작성한다.
- 푸시하기 전에 항상 테스트를 실행한다. `main`에 직접 커밋하지 않는다.
- 비밀번호는 메모에 적지 않는다.
===
ko-jangae.md
# 장애 기록
오후 2시 5분부터 3시 20분까지 주문 서비스가 느려졌다. 원인은 색인 재구성. 다음부터는 복사본에서 진행한다.
===
ar-mulahazat.md
# ملاحظات المشروع
- الردود قصيرة، والأمثلة قبل القواعد. الكود باللغة الإنجليزية.
- شغّل الاختبارات دائمًا قبل الرفع: `make test`.
- كلمات المرور في الخزنة وليست هنا.
===
he-hearot.md
# הערות
- פגישה בכל יום שלישי בשעה 10:00. תשובות קצרות, דוגמאות לפני כללים.
- תמיד להריץ את הבדיקות לפני שליחה. לא לעבוד ישירות על `main`.
===
fa-yaddasht.md
# یادداشت‌ها
پاسخ‌ها کوتاه باشد. جلسه سه‌شنبه‌ها ساعت ده است. پیش از ارسال، آزمون‌ها را اجرا کنید. می‌خواهم مثال‌ها اول بیاید.
===
hi-tippani.md
# टिप्पणियाँ
उत्तर छोटे हों, उदाहरण पहले। कोड अंग्रेज़ी में। भेजने से पहले परीक्षण अवश्य चलाएँ। बैठक हर मंगलवार सुबह दस बजे।
===
ta-kurippu.md
# குறிப்புகள்
பதில்கள் சுருக்கமாக இருக்கட்டும். குறியீடு ஆங்கிலத்தில். கூட்டம் செவ்வாய்க்கிழமை காலை பத்து மணிக்கு.
===
th-banthuek.md
# บันทึก
ประชุมทุกวันอังคาร เวลา 10.00 น. ตอบสั้น ๆ และยกตัวอย่างก่อน รันชุดทดสอบก่อนส่งโค้ดทุกครั้ง
===
vi-ghi-chu.md
# Ghi chú
Trả lời ngắn gọn, ví dụ trước. Luôn chạy kiểm thử trước khi đẩy mã. Họp vào thứ Ba lúc 10 giờ. Mật khẩu để trong két.
===
id-catatan.md
# Catatan
Jawaban singkat. Selalu jalankan tes sebelum push. Rapat setiap Selasa pukul 10.00 WIB. Jangan ubah `main` langsung.
===
emoji.md
# 🎉 Birthdays and small joys
- 🎂 Ada 3 March, 🍰 Bram 19 June, 🥮 Xiu 27 September
- 👩🏽‍💻 pairs with 👨‍🚒 on Thursdays; the family on the poster is 👨‍👩‍👧‍👦
- ✅ shipped · 🚧 in progress · ❌ dropped · ⏳ waiting · 1️⃣ 2️⃣ 3️⃣ · 🏳️‍🌈 · ❤️
===
names.md
# How names are spelled
Zoë Janssen, Lucía Fernández, Tomáš Novák, Đặng Thị Hà, Łukasz Żak, Þóra Ólafsdóttir, 李雪, 田中 芽衣, יעל כהן, Ζωή.
Sort with the collation of the reader, search without diacritics.
===
math.md
# Notation in the pricing model
Let λ > 0 and μ ≥ λ. Then ρ = λ/μ, and the mean wait is W = 1/(μ − λ). We write x̂ for estimates and Δt for steps.
∑ᵢ wᵢ = 1; α = 0.05; temperatures in °C, angles in radians; π ≈ 3.14159.
"""
