/** Tells people, right after the start, what there is and what to try. */
export type Guide = (port: number) => {
  /** Lines of the list of addresses, each with the service behind it. */
  serves: string[]
  tries: string[]
}
