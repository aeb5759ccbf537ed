/** Prints a number of seconds as a duration of the config, such as `5s` or `1500ms`. */
export function durationText(seconds: number): string {
  return Number.isInteger(seconds) ? `${seconds}s` : `${Math.round(seconds * 1000)}ms`
}
