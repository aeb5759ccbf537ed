import {
  indexAt,
  type JsonMemberNode,
  type JsonNode,
  type ListNode,
  type ObjectNode,
  type TextRange,
  textNodeAt,
} from '@portico/http/json'

/**
 * The location of texts in a response of a vendor's format, so that a guard can edit them in place. Each text has a
 * name: the records of a stream that continue a text use the same name.
 */
export type TextStep = FoundText | EndOfTexts | Dependent

export interface FoundText extends TextRange {
  do: 'text'
  name: string
  /** The decoded text; null when the JSON at this location is itself the text. */
  text: string | null
  /** `json` for arguments of tool calls: the text must stay valid JSON after masking. */
  form: 'text' | 'json'
  /** Whether the text is complete: no record before or after has a part of the text. */
  isWhole: boolean
}

/** The end of all texts whose names begin with `of`, except those that begin with one of `but`. */
interface EndOfTexts {
  do: 'end'
  of: string
  but: readonly string[]
}

/**
 * A value derived from texts, such as a signature. A mask in those texts makes the value invalid; the value is then
 * replaced by `json`.
 */
export interface Dependent extends TextRange {
  do: 'depend'
  /** The prefix of the names of the texts. */
  on: string
  /** Whether the value depends on texts of the same record, or on all such texts of the response so far. */
  within: 'record' | 'answer'
  json: string
}

export interface NativeTexts {
  /** Finds the texts of one record of a stream. */
  record(root: JsonNode): TextStep[]
  /** Finds the texts of a whole response. */
  whole(root: JsonNode): TextStep[]
  /** Whether later records of a stream repeat texts of earlier records. */
  readonly repeats: boolean
}

/** Walks a part of a response, and collects every string that is not a keyword of the format. */
export class TextWalk {
  readonly steps: TextStep[] = []
  readonly #isWhole: boolean

  constructor(isWhole: boolean) {
    this.#isWhole = isWhole
  }

  /**
   * `walk` collects the texts below a node. `signed` is the prefix of the names of texts that a signature below the
   * node covers.
   */
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

  /** Walks one member of the value called `name`. */
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

  /** Adds arguments that are a JSON object instead of a string. */
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

/**
 * Members that describe a text and do not come from the model: ids, types, tool names, encrypted content, binary data.
 */
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
/** Lists of these members grow from record to record; their items come whole. */
const COMES_WHOLE: ReadonlySet<string> = new Set(['annotations', 'annotation', 'citations', 'citation', 'images'])
const DATA_URL = /^data:[^,]{0,200};base64,/
