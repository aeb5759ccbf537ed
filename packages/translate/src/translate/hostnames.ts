/** What two hostnames have in common, each of which may be a wildcard or empty for all; null when nothing is. */
export function intersection(one: string, other: string): string | null {
  if (one === other || other === '') return one
  if (one === '') return other
  if (covers(one, other)) return other
  return covers(other, one) ? one : null
}

/** Whether `*.example.com` stands for the other, which may be a narrower wildcard. */
function covers(wildcard: string, other: string): boolean {
  return wildcard.startsWith('*.') && other.endsWith(wildcard.slice(1)) && other !== wildcard.slice(2)
}
