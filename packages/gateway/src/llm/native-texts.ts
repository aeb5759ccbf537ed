import {
  indexAt,
  type JsonMemberNode,
  type JsonNode,
  type ListNode,
  type ObjectNode,
  type Place,
  textNodeAt,
} from '../wire/json-tree.ts'

/**
 * Where the texts of an answer stand in its own format, so that a guard can change them in place. Names tell texts of one
 * answer apart: records of a stream that go on with a text use the same name.
 */
export type TextStep = FoundText | EndOfTexts | Dependent

export interface FoundText extends Place {
  do: 'text'
  name: string
  /** As it reads; null where the JSON at this place is the text itself. */
  text: string | null
  /** JSON is what tools are called with: a mask must leave it JSON. */
  form: 'text' | 'json'
  /** Nothing was said of it before, and nothing follows. */
  isWhole: boolean
}

/** Texts whose names begin like this are over, but for those that begin with one of `but`. */
export interface EndOfTexts {
  do: 'end'
  of: string
  but: readonly string[]
}

/** It says something of texts that a mask makes void; then it is replaced. */
export interface Dependent extends Place {
  do: 'depend'
  /** Names of the texts begin like this. */
  on: string
  /** On texts of the same record, or on all of these texts so far. */
  within: 'record' | 'answer'
  json: string
}

export interface NativeTexts {
  /** Of one record of a stream. */
  record(root: JsonNode): TextStep[]
  /** Of a whole answer. */
  whole(root: JsonNode): TextStep[]
  /** Later records of a stream repeat texts of earlier ones. */
  readonly repeats: boolean
}

/** Goes through a part of an answer, and takes every string that is none of the format's own words. */
export class TextWalk {
  readonly steps: TextStep[] = []
  readonly #isWhole: boolean

  constructor(isWhole: boolean) {
    this.#isWhole = isWhole
  }

  /** `signed` begins the names of the texts that a signature in here vouches for. */
  walk(node: JsonNode | undefined, name: string, signed = `${name}.`, isWhole = this.#isWhole): void {
    if (node?.kind === 'object') this.#object(node, name, { signed, isWhole })
    else if (node?.kind === 'list') this.#list(node, name, { signed, isWhole })
    else if (node?.kind === 'text') this.text(node, name, isWhole)
  }

  text(node: JsonNode | undefined, name: string, isWhole = this.#isWhole, form: FoundText['form'] = 'text'): void {
    if (node?.kind !== 'text' || DATA_URL.test(node.value)) return
    const { start, end, value } = node
    this.steps.push({ do: 'text', name, text: value, form, isWhole, start, end })
  }

  end(of: string, but: readonly string[] = []): void {
    this.steps.push({ do: 'end', of, but })
  }

  #object(node: ObjectNode, name: string, how: { signed: string; isWhole: boolean }): void {
    const isImage = textNodeAt(node, 'type') === 'image_generation_call'
    for (const member of node.members) {
      if (!isImage || member.name !== 'result') this.member(member, name, how)
    }
  }

  /** One member of what has this name. */
  member({ name: member, value }: JsonMemberNode, name: string, how: { signed: string; isWhole: boolean }): void {
    const inner = `${name}.${member}`
    if (OWN_WORDS.has(member)) return
    if (member === 'logprobs') this.#depend(value, `${name}.`, 'record')
    else if (SIGNATURES.has(member)) this.#depend(value, how.signed, 'answer')
    else if (JSON_TEXTS.has(member)) this.text(value, inner, how.isWhole, 'json')
    else if (member === 'input' && value.kind === 'object') this.#json(value, inner)
    else this.walk(value, inner, how.signed, how.isWhole || COMES_WHOLE.has(member))
  }

  #list(node: ListNode, name: string, how: { signed: string; isWhole: boolean }): void {
    for (const [at, item] of node.items.entries()) {
      this.walk(item, `${name}.${indexAt(item, 'index') ?? at}`, how.signed, how.isWhole)
    }
  }

  /** Arguments that are no text of their own. */
  #json(node: ObjectNode, name: string): void {
    if (node.members.length === 0) return
    const { start, end } = node
    this.steps.push({ do: 'text', name, text: null, form: 'json', isWhole: true, start, end })
  }

  #depend(node: JsonNode, on: string, within: Dependent['within']): void {
    if (node.kind === 'plain') return
    const json = node.kind === 'text' ? '""' : node.kind === 'list' ? '[]' : 'null'
    this.steps.push({ do: 'depend', on, within, json, start: node.start, end: node.end })
  }
}

/** What formats say of a text, not what a model says: ids, kinds, names of tools, what is sealed, what is no text. */
const OWN_WORDS: ReadonlySet<string> = new Set([
  'id',
  'type',
  'role',
  'name',
  'object',
  'model',
  'status',
  'index',
  'call_id',
  'item_id',
  'tool_call_id',
  'tool_use_id',
  'file_id',
  'container_id',
  'approval_request_id',
  'server_label',
  'server_name',
  'namespace',
  'format',
  'phase',
  'finish_reason',
  'native_finish_reason',
  'stop_reason',
  'thought_signature',
  'encrypted_content',
  'encrypted_index',
  'data',
  'b64_json',
  'partial_image_b64',
  'obfuscation',
  'media_type',
  'mime_type',
  'output_format',
  'bytes',
])
const SIGNATURES: ReadonlySet<string> = new Set(['signature', 'reasoning_signature'])
const JSON_TEXTS: ReadonlySet<string> = new Set(['arguments', 'partial_json'])
/** Lists of these grow from record to record; what is in them does not. */
const COMES_WHOLE: ReadonlySet<string> = new Set(['annotations', 'annotation', 'citations', 'citation', 'images'])
const DATA_URL = /^data:[^,]{0,200};base64,/
