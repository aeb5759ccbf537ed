/** A text from outside as a label: empty ones, which Prometheus takes for no label, are `unknown`. */
export function labelText(text: string): string {
  if (text === '') return 'unknown'
  const short = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text
  // Two values that are written alike would be one series twice, which no scraper accepts.
  return short.toWellFormed().replace(CONTROLS, '\ufffd')
}

const LONGEST = 128
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\0-\x1f\x7f-\x9f]/g
