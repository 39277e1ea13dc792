/** The style sheet of the page. Each scheme names its colours once. */
export const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --page: #f3f5f8; --card: #ffffff; --ink: #131b26; --soft: #536073; --line: #dfe4eb; --edge: #8592a3;
  --accent: #1f5fd0; --on-accent: #ffffff; --land: #d8dfe8; --border: #ffffff;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0c1117; --card: #141b24; --ink: #e6ebf2; --soft: #9aa8ba; --line: #253040; --edge: #66758a;
    --accent: #74a7ff; --on-accent: #0c1117; --land: #2a3545; --border: #141b24;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0 auto; max-width: 1180px; padding: clamp(20px, 4vw, 48px) clamp(14px, 4vw, 40px);
  background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", Arial, sans-serif;
}
h1, h2, p { margin: 0; }
h1 { font-size: clamp(26px, 4vw, 40px); line-height: 1.15; letter-spacing: -0.02em; }
h2 { font-size: 20px; overflow-wrap: anywhere; }
a { color: var(--accent); text-underline-offset: 2px; }
header { margin-bottom: 24px; }
.soft { color: var(--soft); }
main { display: grid; gap: 18px; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 14px; padding: clamp(16px, 2vw, 24px); min-width: 0; }
form { display: flex; flex-wrap: wrap; gap: 14px; align-items: end; }
label { display: grid; gap: 4px; color: var(--soft); font-size: 14px; min-width: 0; }
.grow { flex: 1 1 240px; }
input, button { font: inherit; border-radius: 8px; padding: 10px 12px; min-height: 46px; }
input { width: 100%; font-size: 16px; color: var(--ink); background: var(--page); border: 1px solid var(--edge); }
input::placeholder { color: var(--soft); opacity: 1; }
button { border: 1px solid var(--accent); background: var(--accent); color: var(--on-accent); font-weight: 600; padding-inline: 20px; cursor: pointer; }
input:focus-visible, button:focus-visible, a:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.result { display: grid; grid-template-columns: minmax(280px, 1fr) minmax(0, 2fr); gap: 18px; align-items: start; }
table { width: 100%; margin-top: 12px; border-collapse: collapse; }
th, td { padding: 9px 0; border-top: 1px solid var(--line); text-align: start; vertical-align: top; overflow-wrap: anywhere; }
th { width: 7.2em; padding-inline-end: 12px; font-weight: 500; color: var(--soft); }
.world { display: block; width: 100%; height: auto; }
.wide p { margin-top: 10px; font-size: 14px; }
.land { fill: var(--land); stroke: var(--border); stroke-width: 1; vector-effect: non-scaling-stroke; }
.halo { fill: var(--accent); fill-opacity: 0.22; }
.dot { fill: var(--accent); stroke: var(--card); stroke-width: 5; }
footer { display: grid; gap: 6px; margin-top: 28px; font-size: 13px; overflow-wrap: anywhere; }
@media (max-width: 820px) { .result { grid-template-columns: minmax(0, 1fr); } .halo { r: 90px; } .dot { r: 30px; } }
`
