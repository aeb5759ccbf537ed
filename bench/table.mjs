// Renders rows as a Markdown table, with the bars below.

const COLUMNS = [
  ['scenario', (row) => row.scenario],
  ['proxy', (row) => row.proxy],
  ['CPU µs/req', (row) => number(row.cpu, 1)],
  ['to nginx', (row) => (row.ratio === undefined ? '' : `${row.ratio.toFixed(2)}x`)],
  ['to forwarder', (row) => (row.toForwarder === undefined ? '' : `${row.toForwarder.toFixed(2)}x`)],
  ['to before', (row) => (row.toBefore === undefined ? '' : `${row.toBefore.toFixed(2)}x`)],
  ['p50 ms', (row) => millis(row.p50)],
  ['p99 ms', (row) => millis(row.p99)],
  ['sat. req/s', (row) => (row.rate === undefined ? '' : Math.round(row.rate).toLocaleString('en'))],
  ['sat. CPU µs', (row) => number(row.saturatedCpu, 1)],
  ['sat. to before', (row) => (row.saturatedToBefore === undefined ? '' : `${row.saturatedToBefore.toFixed(2)}x`)],
  ['sat. p99 ms', (row) => millis(row.saturatedP99)],
  ['ready ms', (row) => number(row.readyMs, 0)],
  ['RSS MB', (row) => number(row.residentMb, 1)],
  ['over empty', (row) => number(row.overEmptyMb, 1)],
  ['notes', (row) => row.notes.join('; ')],
]

/** Programs on the same runtime as the empty one. */
const SAME_RUNTIME = /^(portico|before|empty)/

/**
 * Adds the ratios of a row to others of its scenario: CPU per request against nginx, the byte forwarder and an older build.
 */
export function addRatios(rows) {
  for (const row of rows) {
    const beside = (isIt) => rows.find((other) => other.scenario === row.scenario && isIt(other))
    const floor = emptyBeside(row, rows)?.residentMb
    if (floor !== undefined && row.residentMb !== undefined && SAME_RUNTIME.test(row.proxy))
      row.overEmptyMb = row.residentMb - floor
    row.ratio = quotient(row.cpu, beside(({ proxy }) => proxy.startsWith('nginx'))?.cpu)
    row.toForwarder = quotient(row.cpu, beside(({ proxy }) => proxy === 'byte forwarder')?.cpu)
    if (!row.proxy.startsWith('portico')) continue
    const before = beside(({ proxy }) => proxy === row.proxy.replace(/^portico/, 'before'))
    row.toBefore = quotient(row.cpu, before?.cpu)
    row.saturatedToBefore = quotient(row.saturatedCpu, before?.saturatedCpu)
  }
  return rows
}

function quotient(cpu, base) {
  return cpu === undefined || !base ? undefined : cpu / base
}

/** The row of the empty program with as many workers. */
function emptyBeside({ scenario, workers }, rows) {
  return rows.find((row) => row.scenario === scenario && row.workers === workers && row.proxy.startsWith('empty'))
}

export function renderTable(rows) {
  const isUsed = {
    'to forwarder': 'toForwarder',
    'to before': 'toBefore',
    'sat. to before': 'saturatedToBefore',
    'over empty': 'overEmptyMb',
  }
  const columns = COLUMNS.filter(
    ([title]) => !(title in isUsed) || rows.some((row) => row[isUsed[title]] !== undefined),
  )
  const isText = (column) => column < 2 || column === columns.length - 1
  const cells = [columns.map(([title]) => title), ...rows.map((row) => columns.map(([, cell]) => cell(row)))]
  const widths = columns.map((_, column) => Math.max(...cells.map((line) => line[column].length)))
  const lines = cells.map(
    (line) =>
      `| ${line.map((cell, column) => (isText(column) ? cell.padEnd(widths[column]) : cell.padStart(widths[column]))).join(' | ')} |`,
  )
  const rule = `|${widths.map((width, column) => (isText(column) ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`
  return [lines[0], rule, ...lines.slice(1)].join('\n')
}

/** One line for each bar: met, missed, or not measured. */
export function renderBars(scenarios, rows) {
  return scenarios.flatMap(({ title, bars = [] }) => bars.flatMap((bar) => barLines(title, bar, rows)))
}

function barLines(title, bar, rows) {
  const rowOf = (proxy) => rows.find((row) => row.scenario === title && row.proxy === proxy)
  const row = rowOf(bar.of ?? 'portico')
  const base = rowOf(bar.to ?? 'nginx')
  // An older build exists only when one was named.
  if (base === undefined && bar.to?.startsWith('before')) return []
  const cpuOf = (of) => (bar.saturated ? of?.saturatedCpu : of?.cpu)
  const floor = bar.beyond === undefined ? 0 : cpuOf(rowOf(bar.beyond))
  const ratio = quotient(beyond(cpuOf(row), floor), beyond(cpuOf(base), floor))
  const what = `${bar.saturated ? 'CPU when saturated' : 'CPU'}${bar.beyond ? ` beyond ${bar.beyond}` : ''}`
  const parts = [
    [bar.ratio, ratio, 'x', `${what}${bar.of ? ` of ${bar.of}` : ''} against ${bar.to ?? 'nginx'}`, 2],
    [bar.time, row?.p50 && base?.p50 ? row.p50 / base.p50 : undefined, 'x', `time against ${bar.to ?? 'nginx'}`, 2],
    [bar.readyMs, row?.readyMs, ' ms', 'to ready', 0],
    [bar.effectiveMs, row?.effectiveMs, ' ms', `change effective, ${bar.of}`, 0],
    [bar.growth, row?.growth, 'x', `RSS after changes, ${bar.of}`, 2],
    [bar.againstBefore, row?.againstBefore, 'x', 'CPU against that before the rest', 2],
    [bar.overEmptyMb, row?.overEmptyMb, ' MB', 'RSS over an empty program', 1],
    [bar.furtherWorkerMb, furtherWorkerMb(title, rows), ' MB', 'each further worker over an empty one', 1],
  ]
  return parts
    .filter(([most]) => most !== undefined)
    .map(([most, got, unit, measure, digits]) => {
      const verdict =
        got === undefined ? 'not measured' : `${got.toFixed(digits)}${unit}: ${got <= most ? 'met' : 'MISSED'}`
      const spread = bar.ratio !== undefined && !bar.saturated && !bar.beyond ? renderSpread(row, base) : ''
      return `- ${title}: ${measure} ≤ ${most}${unit}, ${verdict}${spread}`
    })
}

function beyond(value, floor) {
  return value === undefined || floor === undefined ? undefined : value - floor
}

/** The memory of one more worker, beyond that of an empty worker. */
function furtherWorkerMb(title, rows) {
  const own = rows
    .filter((row) => row.scenario === title && row.proxy.startsWith('portico') && row.overEmptyMb !== undefined)
    .toSorted((a, b) => a.workers - b.workers)
  const [few, many] = [own.at(0), own.at(-1)]
  if (few === undefined || many === undefined || few === many) return undefined
  return (many.overEmptyMb - few.overEmptyMb) / (many.workers - few.workers)
}

/** Rounds are interleaved, so rounds of the same number are close in time. */
function renderSpread(row, base) {
  const ratios = (row?.cpuByRound ?? []).map((cpu, round) => cpu / (base?.cpuByRound?.[round] ?? 0))
  if (ratios.length < 2 || !ratios.every(Number.isFinite)) return ''
  return ` (rounds ${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)})`
}

function number(value, digits) {
  return value === undefined ? '' : value.toFixed(digits)
}

function millis(micros) {
  return micros === undefined ? '' : (micros / 1000).toFixed(2)
}
