import type { ResponseContext } from '../../format.ts'
import { objectsAt, textAt } from '../../../wire/json.ts'
import type { ChatEvent, JsonObject } from '../../middle.ts'
import { createPartLedger } from './part-ledger.ts'
import { partsOfReasoningItem } from './reasoning-item.ts'

/** Where a piece of an item belongs: in the list of output items, and there among texts or summaries. */
export interface Place {
  item: number
  at: number
}

/** Output items as events, whichever way they come: piece by piece, whole at their end, or both. */
export interface OutputReader {
  readonly hasItems: boolean
  readonly hasCalls: boolean
  beginItem(item: number, value: JsonObject): void
  /** The item as it is at last: what was not said yet is said now. */
  endItem(item: number, value: JsonObject): void
  beginContent(place: Place, part: JsonObject): void
  addContent(place: Place, type: 'output_text' | 'refusal' | 'reasoning_text', text: string): void
  /** All of its text. */
  wholeContent(place: Place, part: JsonObject): void
  endContent(place: Place, part: JsonObject): void
  addSummary(place: Place, text: string): void
  wholeSummary(place: Place, text: string): void
  /** Arguments of a function, or the input of a custom tool. */
  addCall(item: number, text: string): void
  wholeCall(item: number, text: string): void
}

export function createOutputReader(context: ResponseContext, emit: (event: ChatEvent) => void): OutputReader {
  const ledger = createPartLedger(emit)
  /** What `added` said of an item that its pieces belong to. */
  const items = new Map<number, JsonObject>()
  /** The section of a reasoning item that is open. */
  const sections = new Map<number, string>()
  let hasCalls = false

  function openCall(item: number, value: JsonObject): string {
    hasCalls = true
    const name = textAt(value, 'name') ?? ''
    const key = `${item}/call`
    const id = textAt(value, 'call_id') ?? textAt(value, 'id') ?? ''
    const part = { type: 'toolCall', id, name: context.toolNames.get(name) ?? name } as const
    ledger.open(key, part, value.type === 'custom_tool_call')
    return key
  }

  /** What the provider wants back with the reasoning comes last, so a section ends when the next begins. */
  function openSection(place: Place, kind: 'summary' | 'content', id: string | undefined): string {
    const key = `${place.item}/${kind}/${place.at}`
    if (ledger.has(key)) return key
    const before = sections.get(place.item)
    if (before !== undefined) ledger.close(before, '')
    sections.set(place.item, key)
    const known = id ?? textAt(items.get(place.item) ?? {}, 'id')
    ledger.open(key, {
      type: 'reasoning',
      ...(known !== undefined && { id: known }),
      ...(kind === 'content' && { verbatim: true }),
    })
    return key
  }

  function openContent(place: Place, type: unknown): string | null {
    const key = `${place.item}/content/${place.at}`
    if (type === 'output_text') ledger.open(key, { type: 'text' })
    else if (type === 'refusal') ledger.open(key, { type: 'refusal' })
    else if (type === 'reasoning_text') openSection(place, 'content', undefined)
    else return null
    return key
  }

  function endMessage(item: number, value: JsonObject): void {
    items.set(item, value)
    for (const [at, part] of objectsAt(value, 'content').entries()) reader.endContent({ item, at }, part)
  }

  function endReasoning(item: number, value: JsonObject): void {
    const parts = partsOfReasoningItem(value)
    const isEmpty = parts.every(({ text, opaque }) => text === '' && opaque === undefined)
    // Clients of other formats have no use for an item in which there is nothing.
    if (isEmpty && context.request.format !== 'responses') return
    const counts = { summary: 0, content: 0 }
    for (const { text, id, verbatim, opaque } of parts) {
      const kind = verbatim ? 'content' : 'summary'
      const key = openSection({ item, at: counts[kind]++ }, kind, id)
      ledger.close(key, text, opaque === undefined ? {} : { opaque })
    }
  }

  const reader: OutputReader = {
    get hasItems() {
      return items.size > 0
    },
    get hasCalls() {
      return hasCalls
    },
    beginItem(item, value) {
      items.set(item, value)
      if (value.type === 'function_call' || value.type === 'custom_tool_call') openCall(item, value)
    },
    endItem(item, value) {
      items.set(item, value)
      switch (textAt(value, 'type') ?? '') {
        case 'message':
          return endMessage(item, value)
        case 'reasoning':
          return endReasoning(item, value)
        case 'function_call':
          return ledger.close(openCall(item, value), textAt(value, 'arguments') ?? '')
        case 'custom_tool_call':
          return ledger.close(openCall(item, value), textAt(value, 'input') ?? '')
        default: {
          const key = `${item}/native`
          ledger.open(key, { type: 'native', format: 'responses', value })
          ledger.close(key, '')
        }
      }
    },
    beginContent(place, part) {
      openContent(place, part.type)
    },
    addContent(place, type, text) {
      const key = openContent(place, type)
      if (key !== null) ledger.add(key, text)
    },
    wholeContent(place, part) {
      const key = openContent(place, part.type)
      if (key !== null) ledger.complete(key, textOf(part))
    },
    endContent(place, part) {
      const key = openContent(place, part.type)
      if (key === null) return
      if (part.type === 'reasoning_text') ledger.complete(key, textOf(part))
      else ledger.close(key, textOf(part), restOf(part, items.get(place.item)))
    },
    addSummary(place, text) {
      ledger.add(openSection(place, 'summary', undefined), text)
    },
    wholeSummary(place, text) {
      ledger.complete(openSection(place, 'summary', undefined), text)
    },
    addCall(item, text) {
      ledger.add(`${item}/call`, text)
    },
    wholeCall(item, text) {
      ledger.complete(`${item}/call`, text)
    },
  }
  return reader
}

function textOf(part: JsonObject): string {
  return textAt(part, 'text') ?? textAt(part, 'refusal') ?? ''
}

/** Sources that a text names, and which kind of message it stands in, for clients of this format. */
function restOf(part: JsonObject, item: JsonObject | undefined): { rest?: JsonObject } {
  const annotations = objectsAt(part, 'annotations')
  const phase = item === undefined ? undefined : textAt(item, 'phase')
  if (annotations.length === 0 && phase === undefined) return {}
  return { rest: { ...(annotations.length > 0 && { annotations }), ...(phase !== undefined && { item: { phase } }) } }
}
