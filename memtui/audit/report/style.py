"""How the page of a report looks: one style sheet, in colors that are legible in light, in dark and on paper."""

STYLE = """
:root{color-scheme:light dark;--page:#f5f6f8;--card:#fff;--ink:#1c2128;--soft:#545d68;--edge:#dde1e6;--grid:#e6e9ed;
--fail:#c4202c;--warn:#945f00;--info:#0a62c4;--clean:#17733a;--fail-fill:#d63a45;--warn-fill:#c08300;--info-fill:#3f8ae0;
--fail-tint:#fdeeee;--warn-tint:#fdf5e0;--info-tint:#ebf3fd;--clean-tint:#e9f6ed;
--s0:#2170c8;--s1:#cc5a12;--s2:#14826c;--s3:#a3408f;--s9:#77808a;--link:#0a62c4;--code:#f3f4f7}
@media (prefers-color-scheme:dark){:root{--page:#0e1116;--card:#171b21;--ink:#e6e9ee;--soft:#a3adb9;--edge:#2c323a;
--grid:#262c34;--fail:#ff8b84;--warn:#e5b84a;--info:#82bdff;--clean:#62cf85;--fail-fill:#f0625c;--warn-fill:#d9a52e;
--info-fill:#5aa2f2;--fail-tint:#331a1d;--warn-tint:#302610;--info-tint:#142538;--clean-tint:#13291b;
--s0:#5aa2f2;--s1:#ee8a45;--s2:#3dbba1;--s3:#dd7fca;--s9:#8a94a0;--link:#82bdff;--code:#1f252d}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;scroll-padding-top:1rem}
body{margin:0;background:var(--page);color:var(--ink);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
header,main{max-width:1180px;margin:0 auto;padding:0 24px}
header{padding-top:36px}
main{padding-bottom:56px}
h1,h2,p,ul,ol,dl,figure{margin:0}
ul,ol{padding:0;list-style:none}
h1{font-size:28px;line-height:1.2;font-weight:650;letter-spacing:-.01em;overflow-wrap:anywhere}
h2{font-size:17px;font-weight:650;line-height:1.3}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;
font-size:.9em;unicode-bidi:isolate}
bdi,code,q,dd,.words,.do{overflow-wrap:anywhere}
table bdi,table code{overflow-wrap:break-word}
a{color:var(--link)}
:focus-visible{outline:2px solid var(--link);outline-offset:2px}
.eyebrow{color:var(--soft);font-size:12px;font-weight:650;letter-spacing:.09em;text-transform:uppercase}
.taken,.since{color:var(--soft)}
.verdict{display:flex;flex-wrap:wrap;align-items:baseline;gap:4px 14px;margin:18px 0 14px;padding:14px 18px;
border-radius:10px;border-left:6px solid var(--tone);background:var(--tint);font-size:17px}
.verdict strong{color:var(--tone);letter-spacing:.04em}
.fail{--tone:var(--fail);--tint:var(--fail-tint);--fill:var(--fail-fill)}
.warn{--tone:var(--warn);--tint:var(--warn-tint);--fill:var(--warn-fill)}
.info{--tone:var(--info);--tint:var(--info-tint);--fill:var(--info-fill)}
.clean{--tone:var(--clean);--tint:var(--clean-tint);--fill:var(--clean)}
.s0{--fill:var(--s0)}.s1{--fill:var(--s1)}.s2{--fill:var(--s2)}.s3{--fill:var(--s3)}.s9{--fill:var(--s9)}
nav{display:flex;flex-wrap:wrap;gap:4px 18px;margin-bottom:22px;font-size:14px}
section{margin-bottom:30px}
section>h2{margin-bottom:12px;font-size:20px}
.cards{display:grid;grid-template-columns:repeat(4,1fr);gap:12px;margin-bottom:14px}
.card{display:flex;flex-direction:column;gap:2px;padding:14px 16px;background:var(--card);border:1px solid var(--edge);
border-radius:10px;border-top:3px solid var(--tone,var(--edge));min-width:0}
.card b{font-size:26px;line-height:1.15;font-weight:650;color:var(--tone,var(--ink));font-variant-numeric:tabular-nums}
.card span{color:var(--soft);font-size:13px;overflow-wrap:anywhere}
.figures{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:14px}
figure{padding:16px 18px;background:var(--card);border:1px solid var(--edge);border-radius:10px;min-width:0}
figcaption{display:flex;flex-wrap:wrap;align-items:baseline;gap:0 12px;margin-bottom:8px}
figcaption p{color:var(--soft);font-size:14px}
.chart{display:block;width:100%;height:auto}
.chart .tick{fill:var(--soft);font-size:12.5px;font-variant-numeric:tabular-nums}
.chart .grid{stroke:var(--grid)}.chart .axis{stroke:var(--soft)}
.chart .line{fill:none;stroke:var(--fill);stroke-width:2.25;stroke-linejoin:round}
.chart .area{fill:var(--fill);opacity:.13}
.chart .dot{fill:var(--fill);stroke:var(--card);stroke-width:2}
.chart .fill{fill:var(--fill);stroke:var(--card);stroke-width:1}
table{border-collapse:collapse;width:100%;font-size:14px}
th,td{text-align:left;vertical-align:top;padding:7px 10px 7px 0;border-bottom:1px solid var(--edge)}
th{font-weight:600}
thead th{color:var(--soft);font-size:13px}
.shares{margin-top:10px;font-variant-numeric:tabular-nums}
.shares th,.shares td{padding:4px 10px 4px 0;border:0;vertical-align:middle;font-weight:400}
.shares td:not(.bar),.shares thead th{text-align:right;white-space:nowrap;padding-right:6px}
.shares tbody th{width:1%;white-space:nowrap;max-width:220px;overflow:hidden;text-overflow:ellipsis}
.shares .bar{width:60%;white-space:nowrap;font-size:0}
.shares .bar i{display:inline-block;height:10px;min-width:2px;background:var(--fill)}
.shares .bar i:first-child{border-radius:3px 0 0 3px}.shares .bar i:last-child{border-radius:0 3px 3px 0}
.shares .bar i:only-child{border-radius:3px}
.shares td:not(.bar){min-width:44px}.zero{color:var(--soft)}
.budgets{margin-top:14px}
.budgets td.bar{background:linear-gradient(var(--grid),var(--grid)) no-repeat left center/100% 10px content-box}
.swatch{display:inline-block;width:10px;height:10px;margin-right:7px;border-radius:3px;background:var(--fill)}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.numbers{margin-top:10px;font-size:13px}
.numbers summary{color:var(--soft);cursor:pointer;width:max-content}
.numbers .wide{max-height:240px;overflow:auto}
.numbers table{font-size:13px;font-variant-numeric:tabular-nums;width:auto;min-width:60%}
.numbers td,.numbers th{padding:3px 14px 3px 0}
.wide{overflow-x:auto}
input[type=radio]{position:absolute;opacity:0}
input[type=radio]+label{display:inline-block;margin:0 6px 10px 0;padding:3px 12px;border:1px solid var(--edge);
border-radius:999px;background:var(--card);font-size:13px;cursor:pointer}
input[type=radio]:checked+label{background:var(--ink);border-color:var(--ink);color:var(--page)}
input[type=radio]:focus-visible+label{outline:2px solid var(--link);outline-offset:2px}
.gap{display:inline-block;width:16px}
.finding{padding:14px 18px;margin-bottom:10px;background:var(--card);border:1px solid var(--edge);
border-left:4px solid var(--fill);border-radius:8px;content-visibility:auto;contain-intrinsic-size:auto 150px}
.head{display:flex;flex-wrap:wrap;align-items:baseline;gap:4px 10px}
.badge{padding:1px 8px;border-radius:5px;background:var(--tint);color:var(--tone);font-size:12px;font-weight:700;
letter-spacing:.05em;text-transform:uppercase}
.rule{font-weight:650}
.place{color:var(--soft);min-width:0}
.words{margin-top:4px}
.evidence{margin:8px 0;padding:9px 12px;overflow-x:auto;border-radius:6px;background:var(--code);white-space:pre-wrap;
overflow-wrap:anywhere}
.do{margin-top:4px}
.origin{margin-top:4px;color:var(--soft);font-size:13.5px;overflow-wrap:anywhere}
.origin b{color:var(--ink);font-weight:600}
.nothing,#changes .wide,#lost .lost,.fold,#made dl{padding:14px 18px;background:var(--card);
border:1px solid var(--edge);border-radius:10px}
.since{margin-bottom:8px;font-size:14px}
#changes .wide{padding:4px 18px}
#changes tr:last-child td{border-bottom:0}
#changes td:first-child,.lines{white-space:nowrap}
#changes td:nth-child(2){min-width:13em;max-width:34em;overflow-wrap:anywhere}#changes td:nth-child(5){min-width:9em}
.was{display:block;color:var(--soft);font-size:13px}
.added{color:var(--clean)}.removed{color:var(--fail)}
.mark{font-weight:650}.mark.flag{color:var(--warn)}.mark.accept{color:var(--clean)}
.lost li{padding:5px 0}.lost code{color:var(--soft);margin-right:8px}
.notice{margin-bottom:10px;padding:10px 14px;border-radius:8px;background:var(--tint);color:var(--tone)}
.fold{margin-bottom:10px;padding:10px 18px}
.fold summary{cursor:pointer}.fold summary h2{display:inline;font-size:16px}
.count{color:var(--soft)}
.fold ul{padding:6px 0 4px}.fold li{padding:4px 0;font-size:14px}
dl{display:grid;grid-template-columns:max-content 1fr;gap:6px 22px;font-size:14px;margin-bottom:8px}
dt{color:var(--soft)}dd{margin:0}
@media (max-width:820px){.figures{grid-template-columns:minmax(0,1fr)}.cards{grid-template-columns:repeat(2,1fr)}}
@media (max-width:560px){header,main{padding-left:14px;padding-right:14px}header{padding-top:20px}h1{font-size:22px}
figure,.finding{padding:12px 14px}.chart .tick{font-size:16px}.verdict{font-size:16px;padding:12px 14px}
dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:8px}.card b{font-size:22px}.gap{display:block;height:0}}
@media print{:root{color-scheme:light}body{background:#fff;font-size:11px}header,main{max-width:none;padding:0}
nav,input[type=radio]+label,.gap,.numbers{display:none}.finding{content-visibility:visible;break-inside:avoid}
figure,.card,.verdict,tr{break-inside:avoid}h2,.since{break-after:avoid}
.figures{grid-template-columns:repeat(2,minmax(0,1fr))}.cards{grid-template-columns:repeat(4,1fr)}
.chart .tick{font-size:16px}.origin,.since,.card span,.fold li,figcaption p,dl,table,thead th,code{font-size:11px}
.fold::details-content{content-visibility:visible}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
"""
for _group, _values in (
    ("severity", ("fail", "warn", "info")),
    ("family", ("secret", "hidden", "planted", "integrity", "upkeep", "claims")),
):
    for _value in _values:
        STYLE += f"#{_group}-{_value}:checked~.findings .finding:not(.{_value}){{display:none}}\n"
