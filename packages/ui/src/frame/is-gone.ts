/** The gateway does not answer any more: what is shown is what it said last. */
export function isGone({ isError, data }: { isError: boolean; data: unknown }): boolean {
  return isError && data !== undefined
}
