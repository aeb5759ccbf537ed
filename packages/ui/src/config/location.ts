/** The text of a problem without the leading `gateway.yaml:3:7: `, which the page shows beside it. */
export function withoutLocation(text: string): string {
  return text.replace(/^[^\n]*?:\d+:\d+: /, '')
}
