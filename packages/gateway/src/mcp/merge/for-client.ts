import { isObject, type Json, type JsonObject } from '@portico/http/json'
import type { McpItemKind } from '../../records/mcp-record.ts'
import type { RpcMessage } from '../protocol.ts'
import type { Namer } from '../names.ts'
import { edited, editExactly, editItems, type Edits, joinEdits } from '../edit.ts'
import { RELATED_TASK, UI_LINKS } from './meta.ts'

/**
 * Returns a message of a target with the names that clients see: a response to a request of `method`, a notification, or
 * a request. Lists are converted by `exposePage`. Returns the same message when it contains no names.
 */
export function forClient(message: RpcMessage, method: string, target: string, namer: Namer): RpcMessage {
  const names = new ExposedNames(target, namer)
  if (message.kind !== 'response') {
    return editExactly(message, 'params', (params) =>
      joinEdits(names.meta(params), names.params(message.method, params)),
    )
  }
  return editExactly(message, 'result', (result) => joinEdits(names.meta(result), names.result(method, result)))
}

/** Translates the names of one target to those that clients see. Edits are null when nothing changes. */
export class ExposedNames {
  readonly #target: string
  readonly #namer: Namer

  constructor(target: string, namer: Namer) {
    this.#target = target
    this.#namer = namer
  }

  text(kind: McpItemKind, name: string): string {
    return this.#namer.exposed(kind, this.#target, name)
  }

  params(method: string, params: JsonObject): Edits {
    switch (method) {
      case 'notifications/resources/updated':
        return this.member(params, 'uri', 'resource')
      case 'notifications/tasks/status':
      case 'notifications/tasks':
        return this.member(params, 'taskId', 'task')
      case 'notifications/subscriptions/acknowledged':
        return this.#filter(params)
      default:
        return null
    }
  }

  result(method: string, result: JsonObject): Edits {
    switch (method) {
      case 'tools/call':
      case 'tasks/result':
        return joinEdits(this.#content(result), this.#messages(result), this.#contents(result), this.#task(result))
      case 'prompts/get':
        return joinEdits(this.#messages(result), this.#task(result))
      case 'resources/read':
        return joinEdits(this.#contents(result), this.#task(result))
      case 'resources/directory/read':
        return this.resources(result)
      case 'skills/get':
        return this.#skill(result)
      case 'tasks/get':
      case 'tasks/cancel':
      case 'tasks/update':
        return joinEdits(this.#task(result), this.#payload(result))
      default:
        return null
    }
  }

  /** Translates the ids and links in `_meta`, which any object may have. */
  meta(object: JsonObject): Edits {
    const { _meta } = object
    if (!isObject(_meta)) return null
    const related = _meta[RELATED_TASK]
    const task = isObject(related) ? edited(related, this.member(related, 'taskId', 'task')) : null
    const ui = isObject(_meta.ui) ? edited(_meta.ui, this.member(_meta.ui, 'resourceUri', 'resource')) : null
    const edits = joinEdits(
      task && { [RELATED_TASK]: task },
      ui && { ui },
      ...UI_LINKS.map((name) => this.member(_meta, name, 'resource')),
    )
    const meta = edited(_meta, edits)
    return meta && { _meta: meta }
  }

  /** Translates the name in a member. */
  member(object: JsonObject, name: string, kind: McpItemKind): Edits {
    const before = object[name]
    if (typeof before !== 'string') return null
    const after = this.text(kind, before)
    return after === before ? null : { [name]: after }
  }

  /** Translates the resources of a directory or of a skill. */
  resources(object: JsonObject): Edits {
    const resources = editItems(object.resources, (item) =>
      edited(item, joinEdits(this.member(item, 'uri', 'resource'), this.meta(item))),
    )
    return resources && { resources }
  }

  #skill({ skill }: JsonObject): Edits {
    if (!isObject(skill)) return null
    const after = edited(
      skill,
      joinEdits(this.member(skill, 'uri', 'resource'), this.meta(skill), this.resources(skill)),
    )
    return after && { skill: after }
  }

  #content(result: JsonObject): Edits {
    const content = editItems(result.content, (block) => this.#block(block))
    return content && { content }
  }

  #messages(result: JsonObject): Edits {
    const messages = editItems(result.messages, (message) => {
      if (!isObject(message.content)) return edited(message, this.#content(message))
      const content = this.#block(message.content)
      return content && edited(message, { content })
    })
    return messages && { messages }
  }

  #contents(result: JsonObject): Edits {
    const contents = editItems(result.contents, (item) =>
      edited(item, joinEdits(this.member(item, 'uri', 'resource'), this.meta(item))),
    )
    return contents && { contents }
  }

  /** Translates a content block that links to, or embeds, a resource. */
  #block(block: JsonObject): JsonObject | null {
    if (block.type === 'resource_link') return edited(block, this.member(block, 'uri', 'resource'))
    if (block.type !== 'resource' || !isObject(block.resource)) return null
    const resource = edited(block.resource, this.member(block.resource, 'uri', 'resource'))
    return resource && edited(block, { resource })
  }

  /** Translates a task in place of a result; newer revisions have its members without the `task` object. */
  #task(result: JsonObject): Edits {
    const task = isObject(result.task) ? edited(result.task, this.member(result.task, 'taskId', 'task')) : null
    return joinEdits(this.member(result, 'taskId', 'task'), task && { task })
  }

  /** Translates the result of a finished task. */
  #payload({ result }: JsonObject): Edits {
    if (!isObject(result)) return null
    const after = edited(result, joinEdits(this.meta(result), this.result('tasks/result', result)))
    return after && { result: after }
  }

  #filter(params: JsonObject): Edits {
    const { notifications } = params
    if (!isObject(notifications)) return null
    const after = edited(
      notifications,
      joinEdits(
        this.#texts(notifications, 'resourceSubscriptions', 'resource'),
        this.#texts(notifications, 'taskIds', 'task'),
      ),
    )
    return after && { notifications: after }
  }

  #texts(object: JsonObject, name: string, kind: McpItemKind): Edits {
    const list = object[name]
    if (!Array.isArray(list)) return null
    const after = list.map((entry: Json) => (typeof entry === 'string' ? this.text(kind, entry) : entry))
    return after.every((entry, at) => entry === list[at]) ? null : { [name]: after }
  }
}
