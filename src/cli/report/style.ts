import { NARROW_GROWTH } from './map.ts'

/** The style sheet. Each scheme names its colours once; a test checks their contrast against WCAG AA. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --page: #f3f5f8; --card: #ffffff; --ink: #131b26; --soft: #536073; --line: #dfe4eb; --track: #e8ecf2;
  --accent: #1f5fd0; --land: #e3e8ef; --border: #ffffff; --dot: #d0481f; --dot-edge: #8f2f12;
  --shade0: #7ba3e6; --shade1: #a3bfee; --shade2: #c3d5f3; --shade3: #d7e1f2;
  --c0: #1f5fd0; --c1: #0f8a6d; --c2: #c26a00; --c3: #8a4bc4; --c4: #b3305f; --cothers: #9aa5b4;
  --failed: #b8610b; --bad: #b3261e;
  --shadow: 0 1px 2px rgb(19 27 38 / 4%), 0 8px 24px -16px rgb(19 27 38 / 16%);
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --page: #0c1117; --card: #141b24; --ink: #e6ebf2; --soft: #9aa8ba; --line: #253040; --track: #222c3a;
    --accent: #74a7ff; --land: #232d3b; --border: #141b24; --dot: #ff9a6b; --dot-edge: #ffc7ab;
    --shade0: #3962a8; --shade1: #335691; --shade2: #2b4570; --shade3: #273a59;
    --c0: #74a7ff; --c1: #4fc9a8; --c2: #f0a24a; --c3: #c39af0; --c4: #f08cb0; --cothers: #66748a;
    --failed: #f0a24a; --bad: #ff8076;
    --shadow: none;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0 auto; max-width: 1960px; padding: clamp(20px, 4vw, 52px) clamp(14px, 4vw, 48px);
  background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", Arial, sans-serif;
  font-variant-numeric: tabular-nums;
}
h1, h2, h3, p, dl, dd, figure, ul { margin: 0; padding: 0; }
a { color: var(--accent); text-underline-offset: 2px; }
a:focus-visible, summary:focus-visible { outline: 2px solid var(--accent); outline-offset: 3px; border-radius: 3px; }
code { white-space: nowrap; font: 0.92em ui-monospace, "SF Mono", Menlo, Consolas, monospace; background: var(--track); padding: 1px 5px; border-radius: 4px; }
b { font-weight: 600; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }

.top { margin-bottom: clamp(20px, 3vw, 32px); }
.eyebrow { display: flex; align-items: center; gap: 8px; color: var(--soft); font-size: 13px; font-weight: 600; letter-spacing: 0.01em; }
.globe { width: 18px; height: 18px; fill: none; stroke: var(--accent); stroke-width: 1.5; }
h1 { margin-top: 8px; font-size: clamp(26px, 4.2vw, 42px); line-height: 1.15; letter-spacing: -0.022em; font-weight: 650; overflow-wrap: anywhere; text-wrap: balance; }
.top .lead { margin-top: 12px; font-size: clamp(16px, 1.6vw, 19px); color: var(--soft); max-width: 78ch; text-wrap: pretty; }
.top .lead b { color: var(--ink); }
details { margin-top: 10px; color: var(--soft); font-size: 14px; }
summary { cursor: pointer; width: fit-content; }
details ul { margin-top: 6px; padding-left: 20px; overflow-wrap: anywhere; }

main { display: grid; gap: clamp(14px, 1.6vw, 20px); }
.card, .totals { background: var(--card); border: 1px solid var(--line); border-radius: 14px; box-shadow: var(--shadow); min-width: 0; }
.card { padding: clamp(16px, 2vw, 24px); }
.head { display: flex; justify-content: space-between; align-items: baseline; gap: 12px; margin-bottom: 12px; }
h2 { font-size: 17px; line-height: 1.3; font-weight: 620; letter-spacing: -0.008em; }
h3 { font-size: 14px; font-weight: 620; }
.aside, .note, .empty, .card .lead { color: var(--soft); font-size: 14px; }
.note { margin-top: 12px; font-size: 13px; }
.card .lead { max-width: 68ch; text-wrap: pretty; }
.empty { padding: 20px 0 12px; max-width: 56ch; }

.totals { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); overflow: hidden; }
.tile { padding: 18px clamp(14px, 1.6vw, 22px); box-shadow: -1px -1px 0 var(--line); min-width: 0; }
.tile dt { color: var(--soft); font-size: 13px; font-weight: 500; }
.value { display: block; margin-top: 2px; font-size: clamp(20px, 1.7vw, 27px); line-height: 1.25; font-weight: 640; letter-spacing: -0.02em; overflow-wrap: anywhere; }
.detail { display: block; margin-top: 2px; color: var(--soft); font-size: 13px; }

.world { display: block; width: 100%; height: auto; }
#countries path { fill: var(--land); stroke: var(--border); stroke-width: 0.7; vector-effect: non-scaling-stroke; stroke-linejoin: round; }
#countries .shade0 { fill: var(--shade0); } .key.shade0 { background: var(--shade0); } #countries .shade1 { fill: var(--shade1); } .key.shade1 { background: var(--shade1); }
#countries .shade2 { fill: var(--shade2); } .key.shade2 { background: var(--shade2); } #countries .shade3 { fill: var(--shade3); } .key.shade3 { background: var(--shade3); }
.labels text { fill: var(--ink); font-size: 24px; font-weight: 600; stroke: var(--card); stroke-width: 5px; paint-order: stroke; stroke-linejoin: round; pointer-events: none; }
.maps { display: grid; grid-template-columns: minmax(0, 3.3fr) minmax(0, 1fr); gap: 18px; align-items: start; }
.insets { display: grid; gap: 10px; }
.inset svg { display: block; width: 100%; height: auto; border: 1px solid var(--line); border-radius: 8px; }
.dots circle { fill: var(--dot); fill-opacity: 0.38; stroke: var(--dot-edge); stroke-opacity: 0.75; stroke-width: 0.8; vector-effect: non-scaling-stroke; transform-box: fill-box; transform-origin: center; }
.world circle:hover { fill-opacity: 0.8; }
.legend { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 8px; margin-top: 12px; font-size: 13px; }
.legend svg { flex: none; height: auto; }
.legend span { margin-right: 10px; }
.legend.narrow { display: none; }

.columns { display: grid; grid-template-columns: repeat(auto-fill, minmax(350px, 1fr)); gap: inherit; }
.further { margin-top: 12px; }
.further table { margin-top: 8px; }
.plain th, .plain td { padding-block: 3px; font-size: 13px; }
.codes { display: block; margin-inline-start: 19px; }
.series { display: flex; flex-wrap: wrap; gap: 4px 16px; list-style: none; }
.bars path { shape-rendering: crispEdges; pointer-events: none; }
.bars rect { fill: transparent; }
.bars g:hover rect { fill: var(--track); }
.c0 { fill: var(--c0); background: var(--c0); } .c1 { fill: var(--c1); background: var(--c1); } .c2 { fill: var(--c2); background: var(--c2); }
.c3 { fill: var(--c3); background: var(--c3); } .c4 { fill: var(--c4); background: var(--c4); } .cothers { fill: var(--cothers); background: var(--cothers); }
.s2 { fill: var(--c1); background: var(--c1); } .s3 { fill: var(--c0); background: var(--c0); } .s4 { fill: var(--failed); background: var(--failed); }
.s5 { fill: var(--bad); background: var(--bad); } .s1, .sothers { fill: var(--cothers); background: var(--cothers); }
.credits { margin-bottom: 12px; }
.credits h2 { display: inline; font-size: 14px; font-weight: 500; }
.plain th, .plain i { unicode-bidi: plaintext; text-align: left; }
.plain i { color: var(--soft); font-style: normal; font-size: 12px; }
.halves { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: inherit; }
.hours, .days { display: flex; flex-direction: column; }
.week { display: grid; grid-template-columns: 36px minmax(0, 1fr); margin-top: 14px; }
.week svg { display: block; width: 100%; height: 126px; overflow: visible; }
.week text { fill: var(--soft); font-size: 12px; }
.cells rect { fill: var(--accent); rx: 2px; }
.cells .w0 { fill: var(--track); } .cells .w1 { fill-opacity: 0.2; } .cells .w2 { fill-opacity: 0.4; } .cells .w3 { fill-opacity: 0.6; } .cells .w4 { fill-opacity: 0.8; }
.ranking { width: 100%; border-collapse: collapse; font-size: 14px; position: relative; }
.ranking th { width: 100%; padding: 6px 0; text-align: start; font-weight: 500; vertical-align: top; }
.ranking td { padding: 6px 0 6px 12px; text-align: end; vertical-align: top; white-space: nowrap; }
.name { display: block; overflow-wrap: anywhere; line-height: 1.35; }
.within { color: var(--soft); font-size: 13px; font-weight: 400; }
.ranking td:last-child { color: var(--soft); }
.ranking td:nth-last-child(n+3) { color: var(--soft); }
.ranking td, .ranking thead th { font-size: 13px; }
.ranking thead th { padding: 0 0 4px 14px; width: auto; color: var(--soft); font-weight: 400; text-align: end; }
.ranking thead th:first-child { width: 100%; }
.ranking abbr { text-decoration: none; }
.ranking tfoot th, .ranking tfoot td { color: var(--soft); font-weight: 400; }
.ranking tfoot tr:first-child th, .ranking tfoot tr:first-child td { border-top: 1px solid var(--line); padding-top: 10px; }
.ranking tbody tr:last-child th, .ranking tbody tr:last-child td { padding-bottom: 10px; }
.bar { display: block; width: 100%; height: 5px; margin-top: 5px; border-radius: 2.5px; background: var(--track); }
.bar rect { fill: var(--accent); rx: 2.5px; }

.stack { display: block; width: 100%; height: 14px; border-radius: 7px; overflow: hidden; background: var(--track); margin: 6px 0 12px; }
.stack rect { stroke: var(--card); stroke-width: 1px; }
.located { fill: var(--accent); background: var(--accent); }
.failed { fill: var(--failed); background: var(--failed); }
.bad { fill: var(--bad); background: var(--bad); }
.key { display: inline-block; width: 10px; height: 10px; border-radius: 3px; margin-inline-end: 9px; }
.outcome .name { padding-inline-start: 19px; text-indent: -19px; }
.outcome th, .outcome td { border-top: 1px solid var(--line); padding-block: 8px; }
.outcome tbody tr:first-child th, .outcome tbody tr:first-child td { border-top: 0; }
.faults { list-style: none; margin-top: 6px; font-size: 13px; overflow-wrap: anywhere; }
.faults li { padding: 3px 0; }
.faults code { white-space: pre-wrap; overflow-wrap: anywhere; }
.card h3 { margin-top: 14px; }
.line { color: var(--soft); margin-inline-end: 6px; }

.chart { display: grid; grid-template: minmax(180px, 1fr) 26px / auto minmax(0, 1fr); flex: 1; max-height: 380px; margin-top: 22px; }
.chart svg { display: block; height: 100%; overflow: visible; }
.chart .plot, .chart .names { width: 100%; min-width: 0; grid-column: 2; }
.chart text { fill: var(--soft); font-size: 12px; }
.scale text { text-anchor: end; }
.names text { text-anchor: middle; }
.plot line { stroke: var(--line); stroke-width: 1; shape-rendering: crispEdges; }
.columns .names .second { display: none; }

.source + .source { margin-top: 16px; padding-top: 16px; border-top: 1px solid var(--line); }
.attribution { margin-top: 6px; max-width: 110ch; }
footer { margin-top: 24px; color: var(--soft); font-size: 13px; }

@media (max-width: 1080px) {
  .totals { grid-template-columns: repeat(3, minmax(0, 1fr)); }
  .tile:last-child:nth-child(3n+1) { grid-column: 1 / -1; }
  .columns { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .columns > :last-child:nth-child(odd) { grid-column: 1 / -1; }
  .maps { grid-template-columns: minmax(0, 1fr); }
  .insets { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); }
  .halves { grid-template-columns: minmax(0, 1fr); }
}
@media (max-width: 700px) {
  .totals { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .tile:last-child:nth-child(odd) { grid-column: 1 / -1; }
  .columns { grid-template-columns: minmax(0, 1fr); }
  .tile { padding-block: 14px; }
  .world { width: calc(100% + 2 * clamp(12px, 1.6vw, 20px)); margin-inline: calc(-1 * clamp(12px, 1.6vw, 20px)); }
  .world circle { transform: scale(${NARROW_GROWTH}); }
  #countries path, .dots circle { stroke-width: 0.5; }
  .labels { display: none; }
  .insets { grid-template-columns: minmax(0, 1fr); }
  .legend.wide { display: none; }
  .legend.narrow { display: flex; }
  .names .each, .names .second { display: none; }
}
@media (min-width: 701px) and (max-width: 900px), (min-width: 1081px) {
  .names .each { display: none; }
}
@media (max-width: 420px) {
  .names .third { display: none; }
}
@media print {
  @page { margin: 14mm; }
  body { max-width: none; padding: 0; background: none; font-size: 10pt; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  .card, .totals { box-shadow: none; break-inside: avoid; }
  .totals { grid-template-columns: repeat(4, minmax(0, 1fr)); }
  .tile { padding: 10px 14px; }
  .tile:last-child:nth-child(3n+1) { grid-column: auto; }
  .columns { display: block; columns: 3; column-gap: 10px; }
  .columns .card { padding: 10px; margin-bottom: 10px; break-inside: auto; }
  .ranking tr, .columns .chart { break-inside: avoid; }
  .head, thead { break-after: avoid; }
  thead, tfoot { display: table-row-group; }
  .ranking, .ranking td, .ranking thead th { font-size: 7pt; }
  .within { font-size: 0.94em; }
  .ranking td { padding: 3px 0 3px 4px; }
  .ranking th { padding: 3px 0; }
  .chart { grid-template-rows: 110px 26px; margin-top: 12px; }
  .halves { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); }
  .maps { display: block; }
  .world { width: 100%; margin: 0; }
  .world circle { transform: none; }
  .legend.wide { display: flex; }
  .legend.narrow, .insets, details:not([open]) { display: none; }
  a { color: inherit; }
}
`
