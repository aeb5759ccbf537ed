import type { HubToWorker } from './hub-messages.ts'

/** The listeners of hub addresses in all workers, and the texts being delivered; held by the main thread. */
export class Mailboxes {
  readonly #workers: ReadonlyMap<number, (message: HubToWorker) => void>
  /** The listeners of each address, newest last. */
  readonly #listenersByAddress = new Map<string, Listener[]>()
  readonly #letters = new Map<number, Letter>()
  #lastLetter = 0

  constructor(workers: ReadonlyMap<number, (message: HubToWorker) => void>) {
    this.#workers = workers
  }

  listen(worker: number, address: string, listener: number): void {
    const listeners = this.#listenersByAddress.get(address)
    if (listeners === undefined) this.#listenersByAddress.set(address, [{ worker, listener }])
    else listeners.push({ worker, listener })
  }

  unlisten(worker: number, address: string, listener: number): void {
    this.#remove(address, (known) => known.worker === worker && known.listener === listener)
  }

  send(from: number, id: number, address: string, text: string): void {
    const letter: Letter = { number: ++this.#lastLetter, from, id, address, text, to: null }
    this.#letters.set(letter.number, letter)
    this.#deliver(letter)
  }

  delivered(number: number, isTaken: boolean): void {
    const letter = this.#letters.get(number)
    if (letter === undefined) return
    if (isTaken) return this.#finish(letter, true)
    // The listener has left meanwhile: the next older one gets the text.
    const { address, to } = letter
    this.#remove(address, (known) => known === to)
    this.#deliver(letter)
  }

  died(worker: number): void {
    for (const address of [...this.#listenersByAddress.keys()]) {
      this.#remove(address, (known) => known.worker === worker)
    }
    for (const letter of [...this.#letters.values()]) {
      if (letter.from === worker) this.#letters.delete(letter.number)
      // The worker may have processed the text before it died, so it is not delivered again.
      else if (letter.to?.worker === worker) this.#finish(letter, false)
    }
  }

  #deliver(letter: Letter): void {
    const to = this.#listenersByAddress.get(letter.address)?.at(-1)
    if (to === undefined) return this.#finish(letter, false)
    letter.to = to
    this.#workers.get(to.worker)?.({ kind: 'mail', mail: letter.number, listener: to.listener, text: letter.text })
  }

  #finish({ number, from, id }: Letter, isTaken: boolean): void {
    this.#letters.delete(number)
    this.#workers.get(from)?.({ kind: 'sent', id, isTaken })
  }

  #remove(address: string, isGone: (listener: Listener) => boolean): void {
    const left = this.#listenersByAddress.get(address)?.filter((listener) => !isGone(listener)) ?? []
    if (left.length === 0) this.#listenersByAddress.delete(address)
    else this.#listenersByAddress.set(address, left)
  }
}

interface Listener {
  readonly worker: number
  readonly listener: number
}

interface Letter {
  readonly number: number
  readonly from: number
  /** The sender's number of the text. */
  readonly id: number
  readonly address: string
  readonly text: string
  to: Listener | null
}
