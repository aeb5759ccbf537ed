/** Sessions by the address and port of their source. Every method takes constant time. */
export class SessionTable<Session> {
  readonly #byAddress = new Map<string, Map<number, Session>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  get(address: string, port: number): Session | undefined {
    return this.#byAddress.get(address)?.get(port)
  }

  /** Returns the number of sessions of one address. */
  countOf(address: string): number {
    return this.#byAddress.get(address)?.size ?? 0
  }

  /** Adds the session of a source that has none. */
  add(address: string, port: number, session: Session): void {
    let byPort = this.#byAddress.get(address)
    if (byPort === undefined) {
      byPort = new Map()
      this.#byAddress.set(address, byPort)
    }
    if (byPort.has(port)) throw new Error('the source already has a session')
    byPort.set(port, session)
    this.#size++
  }

  /** Removes the session of a source; an address without sessions takes no memory. */
  delete(address: string, port: number): void {
    const byPort = this.#byAddress.get(address)
    if (byPort === undefined || !byPort.delete(port)) return
    this.#size--
    if (byPort.size === 0) this.#byAddress.delete(address)
  }

  /** Returns all sessions; the list stays the same while sessions come and go. */
  list(): Session[] {
    return [...this.#byAddress.values()].flatMap((byPort) => [...byPort.values()])
  }
}
