/** One call of a vendor's library, which the clients of all languages make in the same way. */
export interface Job {
  library: Library
  /** The name of the call in each client. */
  call: string
  /** The address without a path. */
  url: string
  key: string
  model: string
}

export type Library = 'openai' | 'anthropic' | 'google' | 'cohere' | 'voyage'

/** The result of a call, or the status and the message of the error that the library raised. */
export type Outcome = { value: unknown } | { error: { status: number; message: string } }

/** A file that is too long to be held by the gateway. */
export const SOUND = Buffer.alloc(100_000, 's')
/** A name that every library writes in its own way. */
export const SOUND_NAME = 'gespräch.mp3'
export const PICTURES = [Buffer.from('first picture'), Buffer.from('second picture')] as const
export const MASK = Buffer.from('mask')
export const DOCUMENTS = ['about cats', 'about dogs', 'about birds']
