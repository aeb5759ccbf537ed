import type { McpRecord, McpItemKind } from '../../records/mcp-record.ts'

/** The MCP message of a request, as expressions read it. Only the field for the kind of its item is present. */
export class McpView {
  readonly #facts: McpRecord

  constructor(facts: McpRecord) {
    this.#facts = facts
  }

  get tool(): ItemView | undefined {
    return this.#item('tool')
  }

  get prompt(): ItemView | undefined {
    return this.#item('prompt')
  }

  get resource(): ItemView | undefined {
    return this.#item('resource')
  }

  get task(): ItemView | undefined {
    return this.#item('task')
  }

  get methodName(): string {
    return this.#facts.method
  }

  get sessionId(): string | undefined {
    return this.#facts.session || undefined
  }

  get protocolVersion(): string | undefined {
    return this.#facts.version || undefined
  }

  get target(): string | undefined {
    return this.#facts.target || undefined
  }

  get outcome(): string | undefined {
    return this.#facts.outcome ?? undefined
  }

  get errorCode(): number | undefined {
    return this.#facts.errorCode ?? undefined
  }

  #item(kind: McpItemKind): ItemView | undefined {
    const item = this.#facts.judged ?? this.#facts.item
    return item === null || item.kind !== kind ? undefined : { name: item.name, target: item.target }
  }
}

interface ItemView {
  name: string
  target: string
}
