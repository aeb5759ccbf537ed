import type { ChatRequest } from '../middle.ts'
import { Unsupported } from '../middle.ts'

/** Fields that refer to state stored at the provider; only a provider of this format can resolve them. */
export const STORED_FIELDS = ['previous_response_id', 'conversation', 'prompt', 'background'] as const

/** The stored state that an upstream of another format cannot resolve; null when the request refers to none. */
export function unsupportedStoredField(request: ChatRequest): Unsupported | null {
  if (request.format !== 'responses') return null
  for (const field of STORED_FIELDS) {
    const value = request.rest[field]
    if (value !== undefined && value !== null && value !== false) {
      return new Unsupported(field, `${field} ${NOT_KEPT}: send the whole conversation as input`)
    }
  }
  const hasReference = request.messages.some(({ parts }) =>
    parts.some((part) => part.type === 'native' && part.value.type === 'item_reference'),
  )
  if (!hasReference) return null
  return new Unsupported('input[].id', `an item_reference ${NOT_KEPT}: send whole items, as SDKs do with store: false`)
}

const NOT_KEPT = 'needs a provider that stores responses, and this one does not'
