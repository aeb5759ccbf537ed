/** Whether the gateway stopped responding, so that the page shows its last data. */
export function isGone({ isError, data }: { isError: boolean; data: unknown }): boolean {
  return isError && data !== undefined
}
