/** Seconds as a duration of a config: `5s`, `1500ms`. */
export function durationText(seconds: number): string {
  return Number.isInteger(seconds) ? `${seconds}s` : `${Math.round(seconds * 1000)}ms`
}
