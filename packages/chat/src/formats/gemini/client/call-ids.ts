/** Pairs function calls with their responses. Clients may leave out ids: a response then answers the first open call of its name. */
export class CallIds {
  readonly #ids = new Set<string>()
  /** Calls without a response, in the order of the conversation. */
  readonly #open: { id: string; name: string }[] = []
  #count = 0

  /** Returns the id of a new call, as the client wrote it if possible. */
  open(name: string, given: string | undefined): string {
    this.#count += 1
    const id = given === undefined || given === '' ? `call_g${this.#count}` : given
    this.#ids.add(id)
    this.#open.push({ id, name })
    return id
  }

  /** Returns the id of the call that a response answers; null when there is no such call. */
  close(name: string, given: string | undefined): string | null {
    const named = given === undefined || given === '' ? null : given
    const at = this.#open.findIndex((call) => (named === null ? call.name === name : call.id === named))
    const [call] = at === -1 ? [] : this.#open.splice(at, 1)
    if (call !== undefined) return call.id
    return named !== null && this.#ids.has(named) ? named : null
  }
}
