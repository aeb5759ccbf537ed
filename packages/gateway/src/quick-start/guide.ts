/** Tells people, right after the start, what there is and what to try. */
export type Guide = (port: number) => {
  /** What answers where: lines of the list of addresses. */
  serves: string[]
  tries: string[]
}
