import type { ResponseContext } from '../../format.ts'
import { objectsAt, textAt } from '@portico/http/json'
import type { ChatEvent, JsonObject } from '../../middle.ts'
import { createPartLedger, type PartLedger } from './part-ledger.ts'
import { partsOfReasoningItem } from './reasoning-item.ts'

/** The position of a piece: the index of its output item, and the index among the texts or summaries of the item. */
interface Place {
  item: number
  at: number
}

/** Turns output items into events, whether items come piece by piece, whole at their end, or both. */
export class OutputReader {
  readonly #context: ResponseContext
  readonly #ledger: PartLedger
  /** Items as announced by `output_item.added`, by index; later pieces refer to them. */
  readonly #items = new Map<number, JsonObject>()
  /** The open section of each reasoning item. */
  readonly #sections = new Map<number, string>()
  #hasCalls = false

  constructor(context: ResponseContext, emit: (event: ChatEvent) => void) {
    this.#context = context
    this.#ledger = createPartLedger(emit)
  }

  get hasItems(): boolean {
    return this.#items.size > 0
  }

  get hasCalls(): boolean {
    return this.#hasCalls
  }

  beginItem(item: number, value: JsonObject): void {
    this.#items.set(item, value)
    if (value.type === 'function_call' || value.type === 'custom_tool_call') this.#openCall(item, value)
  }

  /** Ends an item; `value` is its final form. Emits everything that no earlier event had. */
  endItem(item: number, value: JsonObject): void {
    this.#items.set(item, value)
    switch (textAt(value, 'type') ?? '') {
      case 'message':
        return this.#endMessage(item, value)
      case 'reasoning':
        return this.#endReasoning(item, value)
      case 'function_call':
        return this.#ledger.close(this.#openCall(item, value), textAt(value, 'arguments') ?? '')
      case 'custom_tool_call':
        return this.#ledger.close(this.#openCall(item, value), textAt(value, 'input') ?? '')
      default: {
        const key = `${item}/native`
        this.#ledger.open(key, { type: 'native', format: 'responses', value })
        this.#ledger.close(key, '')
      }
    }
  }

  beginContent(place: Place, part: JsonObject): void {
    this.#openContent(place, part.type)
  }

  addContent(place: Place, type: 'output_text' | 'refusal' | 'reasoning_text', text: string): void {
    const key = this.#openContent(place, type)
    if (key !== null) this.#ledger.add(key, text)
  }

  /** Completes a content part with its whole text. */
  wholeContent(place: Place, part: JsonObject): void {
    const key = this.#openContent(place, part.type)
    if (key !== null) this.#ledger.complete(key, partText(part))
  }

  endContent(place: Place, part: JsonObject): void {
    const key = this.#openContent(place, part.type)
    if (key === null) return
    if (part.type === 'reasoning_text') this.#ledger.complete(key, partText(part))
    else this.#ledger.close(key, partText(part), restOf(part, this.#items.get(place.item)))
  }

  addSummary(place: Place, text: string): void {
    this.#ledger.add(this.#openSection(place, 'summary', undefined), text)
  }

  wholeSummary(place: Place, text: string): void {
    this.#ledger.complete(this.#openSection(place, 'summary', undefined), text)
  }

  /** Adds arguments of a function, or input of a custom tool. */
  addCall(item: number, text: string): void {
    this.#ledger.add(`${item}/call`, text)
  }

  wholeCall(item: number, text: string): void {
    this.#ledger.complete(`${item}/call`, text)
  }

  #openCall(item: number, value: JsonObject): string {
    this.#hasCalls = true
    const name = textAt(value, 'name') ?? ''
    const key = `${item}/call`
    const id = textAt(value, 'call_id') ?? textAt(value, 'id') ?? ''
    const part = { type: 'toolCall', id, name: this.#context.toolNames.get(name) ?? name } as const
    this.#ledger.open(key, part, value.type === 'custom_tool_call')
    return key
  }

  /** Opens a section of reasoning. The encrypted content comes last, so a section ends when the next section begins. */
  #openSection(place: Place, kind: 'summary' | 'content', id: string | undefined): string {
    const key = `${place.item}/${kind}/${place.at}`
    if (this.#ledger.has(key)) return key
    const before = this.#sections.get(place.item)
    if (before !== undefined) this.#ledger.close(before, '')
    this.#sections.set(place.item, key)
    const known = id ?? textAt(this.#items.get(place.item) ?? {}, 'id')
    this.#ledger.open(key, {
      type: 'reasoning',
      ...(known !== undefined && { id: known }),
      ...(kind === 'content' && { verbatim: true }),
    })
    return key
  }

  #openContent(place: Place, type: unknown): string | null {
    const key = `${place.item}/content/${place.at}`
    if (type === 'output_text') this.#ledger.open(key, { type: 'text' })
    else if (type === 'refusal') this.#ledger.open(key, { type: 'refusal' })
    else if (type === 'reasoning_text') this.#openSection(place, 'content', undefined)
    else return null
    return key
  }

  #endMessage(item: number, value: JsonObject): void {
    for (const [at, part] of objectsAt(value, 'content').entries()) this.endContent({ item, at }, part)
  }

  #endReasoning(item: number, value: JsonObject): void {
    const parts = partsOfReasoningItem(value)
    const isEmpty = parts.every(({ text, opaque }) => text === '' && opaque === undefined)
    // Clients of other formats have no use for an empty item.
    if (isEmpty && this.#context.request.format !== 'responses') return
    const counts = { summary: 0, content: 0 }
    for (const { text, id, verbatim, opaque } of parts) {
      const kind = verbatim ? 'content' : 'summary'
      const key = this.#openSection({ item, at: counts[kind]++ }, kind, id)
      this.#ledger.close(key, text, opaque === undefined ? {} : { opaque })
    }
  }
}

function partText(part: JsonObject): string {
  return textAt(part, 'text') ?? textAt(part, 'refusal') ?? ''
}

/** Annotations of a text, and the `phase` of its message, for clients of this format. */
function restOf(part: JsonObject, item: JsonObject | undefined): { rest?: JsonObject } {
  const annotations = objectsAt(part, 'annotations')
  const phase = item === undefined ? undefined : textAt(item, 'phase')
  if (annotations.length === 0 && phase === undefined) return {}
  return { rest: { ...(annotations.length > 0 && { annotations }), ...(phase !== undefined && { item: { phase } }) } }
}
