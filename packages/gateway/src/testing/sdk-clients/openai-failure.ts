import { APIError } from 'openai'
import { SdkFailure } from './client.ts'

/** Errors of the library, as all clients tell them. */
export async function openaiFailure<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof APIError)) throw error
    throw new SdkFailure(messageOf(error), error.status, error.headers?.get('retry-after') ?? null)
  }
}

/** The provider's own words, without the status that the library puts before them. */
function messageOf(error: APIError): string {
  const { error: body } = error
  return typeof body === 'object' && body !== null && 'message' in body ? String(body.message) : error.message
}
