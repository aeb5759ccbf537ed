/** Returns the intersection of two hostnames, each of which may be a wildcard or empty for all; null when there is none. */
export function intersection(one: string, other: string): string | null {
  if (one === other || other === '') return one
  if (one === '') return other
  if (covers(one, other)) return other
  return covers(other, one) ? one : null
}

/** Whether a wildcard `*.example.com` matches the other hostname, which may be a narrower wildcard. */
function covers(wildcard: string, other: string): boolean {
  return wildcard.startsWith('*.') && other.endsWith(wildcard.slice(1))
}
