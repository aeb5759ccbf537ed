/** Converts texts that contain HAProxy samples, such as `%[src]`, to CEL. */

const SAMPLES: Readonly<Record<string, string>> = {
  ...{ src: 'source.address', method: 'request.method', path: 'request.path', pathq: 'request.pathAndQuery' },
  ...{ url: 'request.pathAndQuery', 'capture.req.uri': 'request.pathAndQuery', 'capture.req.method': 'request.method' },
}

/** Returns the text without escapes; null when the text has samples. */
export function literalFormat(text: string): string | null {
  return /%/.test(text.replaceAll('%%', '')) ? null : text.replaceAll('%%', '%')
}

/** Returns a CEL expression for a text with samples; null when a sample has no counterpart. */
export function formatExpression(text: string): string | null {
  const parts: string[] = []
  let rest = ''
  for (const [token, sample, short] of text.matchAll(/%\[([^\]]*)\]|%(%|\w+)|[^%]+|%/g)) {
    if (sample === undefined && short === undefined) {
      rest += token
      continue
    }
    if (short === '%') {
      rest += '%'
      continue
    }
    const value = short === undefined ? sampleExpression(sample ?? '') : short === 'ci' ? 'source.address' : null
    if (value === null) return null
    if (rest !== '') parts.push(JSON.stringify(rest))
    rest = ''
    parts.push(value)
  }
  if (rest !== '' || parts.length === 0) parts.push(JSON.stringify(rest))
  return parts.join(' + ')
}

function sampleExpression(sample: string): string | null {
  if (Object.hasOwn(SAMPLES, sample)) return SAMPLES[sample] ?? null
  const header = /^(?:req\.)?f?hdr\(([\w-]+)\)$/.exec(sample)?.[1]
  if (header !== undefined) return `default(request.headers[${JSON.stringify(header.toLowerCase())}], "")`
  return null
}

/** Returns the seconds of a HAProxy time such as `5s`, `1m`, or `10000` (milliseconds); null for other texts. */
export function secondsOf(text: string): number | null {
  const found = /^(\d+)(us|ms|s|m|h|d)?$/.exec(text)
  return found === null ? null : Number(found[1]) * (UNITS[found[2] ?? 'ms'] ?? 0)
}

const UNITS: Readonly<Record<string, number>> = { us: 1e-6, ms: 0.001, s: 1, m: 60, h: 3_600, d: 86_400 }
