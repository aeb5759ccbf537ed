import { parseJson, replaceAt, type TextRange } from '@portico/http/json'
import type { Dependent, FoundText } from '@portico/chat'
import type { GuardChain } from '../chain.ts'
import { nowOrLater } from '../../../pipeline/call/follow.ts'
import type { ExchangeContext, GuardNote, Rejection, TextInfo } from '../guard.ts'

/** The JSON of a response or record, with the edits of the guards. */
export class NativeEdits {
  readonly #json: string
  readonly #texts: NativeText[] = []
  readonly #dependents: Dependent[] = []
  /** The number of texts that the guards have not released. */
  #open = 0

  constructor(json: string) {
    this.#json = json
  }

  get isSettled(): boolean {
    return this.#open === 0
  }

  addText(found: FoundText): NativeText {
    const text = new NativeText(found, found.text ?? this.#json.slice(found.start, found.end), () => this.#open--)
    this.#texts.push(text)
    this.#open++
    return text
  }

  addDependent(dependent: Dependent): void {
    this.#dependents.push(dependent)
  }

  /** The edited JSON; the same text when nothing has changed. Null when a mask made it invalid. */
  write(masked: ReadonlySet<string>): string | null {
    const changed = this.#texts.filter((text) => text.isChanged)
    if (changed.some((text) => text.breaksJson)) return null
    const edits: (TextRange & { json: string })[] = changed.map(({ found: { start, end }, json }) => ({
      start,
      end,
      json,
    }))
    edits.push(...this.#dependents.filter((dependent) => this.#isVoid(dependent, masked)))
    return replaceAt(
      this.#json,
      edits.sort((left, right) => left.start - right.start),
    )
  }

  #isVoid({ on, within }: Dependent, masked: ReadonlySet<string>): boolean {
    const own = this.#texts.filter(({ found, read }) => found.name.startsWith(on) && read !== '')
    if (own.some((text) => text.isChanged)) return true
    if (within === 'record' && own.length > 0) return false
    return masked.values().some((name) => name.startsWith(on))
  }
}

/** A text at its location in the JSON, on its way through the guards. */
export class NativeText {
  readonly found: FoundText
  readonly read: string
  #written = ''
  /** The number of input characters that the guards have not released. */
  #left: number
  readonly #settled: () => void

  constructor(found: FoundText, read: string, settled: () => void) {
    this.found = found
    this.read = read
    this.#left = read.length
    this.#settled = settled
  }

  get left(): number {
    return this.#left
  }

  get written(): string {
    return this.#written
  }

  get isChanged(): boolean {
    return this.#written !== this.read
  }

  get json(): string {
    return this.found.text === null ? this.#written : JSON.stringify(this.#written)
  }

  get breaksJson(): boolean {
    return this.found.text === null && parseJson(this.#written) === null
  }

  /** Adds output that replaces `of` characters of the input. */
  write(text: string, of: number): void {
    this.#written += text
    this.#left -= of
    if (this.#left === 0) this.#settled()
  }

  /** Replaces the whole text at once. */
  replace(text: string): void {
    this.write(text, this.#left)
  }
}

interface WholeOutcome {
  rejection: Rejection | null
  notes: readonly GuardNote[]
}

/** Guards texts that came whole, with one run per guard for all of them, and replaces the texts. */
export function guardWholeTexts(
  chain: GuardChain,
  texts: readonly NativeText[],
  context: ExchangeContext,
): WholeOutcome | Promise<WholeOutcome> {
  const said = texts.filter(({ read }) => read !== '')
  for (const text of texts) if (text.read === '') text.replace('')
  if (said.length === 0) return NO_TEXTS
  const about = said.map(({ found }) => infoOf(found))
  const ran = chain.run(
    said.map(({ read }) => read),
    { ...context, about },
  )
  return nowOrLater(ran, ({ verdict, notes }): WholeOutcome => {
    if (verdict.kind === 'reject') return { rejection: verdict, notes }
    for (const [index, text] of said.entries()) {
      text.replace(verdict.kind === 'mask' ? (verdict.texts[index] ?? '') : text.read)
    }
    return { rejection: null, notes }
  })
}

export function infoOf({ form }: Pick<FoundText, 'form'>): TextInfo {
  return { role: 'assistant', form }
}

const NO_TEXTS: WholeOutcome = { rejection: null, notes: [] }
