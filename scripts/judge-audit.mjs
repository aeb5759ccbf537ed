/** Severities that fail a run. */
const SERIOUS = new Set(['high', 'critical'])

/**
 * Reads what `npm audit --json` printed. A registry without advisories is no failure, but is said; a report that cannot
 * be read is one.
 *
 * @param {string} text of standard output
 * @param {string} noise of standard error, for the reason where there is no report
 * @returns {{ lines: string[], failed: boolean }}
 */
export function judgeAudit(text, noise) {
  const report = parse(text)
  if (report?.vulnerabilities === undefined) return unavailable(report, noise)
  const found = Object.values(report.vulnerabilities)
  const lines = found.map(({ name, severity, range }) => `${severity}: ${name} ${range}`)
  const failed = found.some(({ severity }) => SERIOUS.has(severity))
  return { lines: [...lines, `${found.length} packages with advisories`], failed }
}

function unavailable(report, noise) {
  const status = report?.statusCode
  if (typeof status === 'number')
    return { lines: [`skipped: the registry offers no advisories (status ${status})`], failed: false }
  const isAway = /ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN|network/i.test(noise)
  if (isAway) return { lines: ['skipped: the registry could not be reached'], failed: false }
  return { lines: [`npm audit failed: ${noise.trim().split('\n').at(-1) ?? ''}`], failed: true }
}

function parse(text) {
  const start = text.indexOf('{')
  if (start === -1) return null
  try {
    return JSON.parse(text.slice(start))
  } catch {
    return null
  }
}
