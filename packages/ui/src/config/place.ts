/** `gateway.yaml:3:7: ` goes without saying where it is shown. */
export function withoutPlace(text: string): string {
  return text.replace(/^[^\n]*?:\d+:\d+: /, '')
}
