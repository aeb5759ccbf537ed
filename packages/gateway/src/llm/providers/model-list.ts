import { countAt, objectsAt, textAt } from '@portico/http/json'
import type { JsonObject } from '@portico/chat'
import type { ModelListKind } from './provider.ts'

/** One model of a list, in any vendor's format. */
export interface ListedModel {
  id: string
  /** The display name. */
  title?: string
  /** Seconds since 1970. */
  created?: number
  owner?: string
}

/** The models of a provider's list; null when the body is not a list. */
export function readModelList(kind: ModelListKind, body: JsonObject): ListedModel[] | null {
  switch (kind) {
    case 'openai':
      return entries(body, 'data', (model) => ({
        id: textAt(model, 'id'),
        created: countAt(model, 'created'),
        owner: textAt(model, 'owned_by'),
      }))
    case 'anthropic':
      return entries(body, 'data', (model) => ({
        id: textAt(model, 'id'),
        title: textAt(model, 'display_name'),
        created: secondsOf(textAt(model, 'created_at')),
        owner: 'anthropic',
      }))
    case 'vertex':
      return entries(body, 'publisherModels', (model) => {
        const [, owner, id] = /^publishers\/([^/]+)\/models\/([^/]+)$/.exec(textAt(model, 'name') ?? '') ?? []
        return { id, owner }
      })
  }
}

/** The libraries that read lists of models. */
export type ModelListFormat = 'openai' | 'anthropic' | 'gemini'

/** Encodes a list for a client; `now` is the creation time of models without one. */
export function writeModelList(format: ModelListFormat, models: readonly ListedModel[], now: number): JsonObject {
  const data = models.map((model) => writeModel(format, model, now))
  if (format === 'openai') return { object: 'list', data }
  if (format === 'gemini') return { models: data }
  // The list is complete: a client that asks for more after the last model would loop.
  return { data, has_more: false, first_id: models[0]?.id ?? null, last_id: models.at(-1)?.id ?? null }
}

export function writeModel(format: ModelListFormat, model: ListedModel, now: number): JsonObject {
  const { id, title = id, created = now, owner = 'portico' } = model
  if (format === 'openai') return { id, object: 'model', created, owned_by: owner }
  if (format === 'gemini') {
    // Google's OpenAI-compatible list has the names of resources.
    const name = id.replace(/^models\//, '')
    return { name: `models/${name}`, baseModelId: name, displayName: title.replace(/^models\//, '') }
  }
  return { type: 'model', id, display_name: title, created_at: new Date(created * 1000).toISOString() }
}

interface Entry {
  id: string | undefined
  title?: string | undefined
  created?: number | undefined
  owner?: string | undefined
}

function entries(body: JsonObject, name: string, read: (model: JsonObject) => Entry): ListedModel[] | null {
  // Google leaves out a list without members.
  if (!Array.isArray(body[name])) return Object.keys(body).length === 0 ? [] : null
  return objectsAt(body, name).flatMap((model) => {
    const { id, title, created, owner } = read(model)
    if (id === undefined || id === '') return []
    return [
      {
        id,
        ...(title !== undefined && { title }),
        ...(created !== undefined && created <= LATEST && { created }),
        ...(owner !== undefined && { owner }),
      },
    ]
  })
}

function secondsOf(time: string | undefined): number | undefined {
  const millis = Date.parse(time ?? '')
  return Number.isNaN(millis) || millis < 0 ? undefined : Math.floor(millis / 1000)
}

/** Beyond it there are no dates. */
const LATEST = 8_640_000_000_000
