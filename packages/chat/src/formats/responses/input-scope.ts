import type { ChatRequest, Loss, UnsupportedField } from '../../middle.ts'

/** The state that all encoders of one request share. */
export interface InputScope {
  request: ChatRequest
  /** Whether the client speaks this format too, so that members only this format has are restored. */
  isOwn: boolean
  nameOf(name: string): string
  idOf(callId: string): string
  losses: Loss[]
  /** Collects the parts that this format cannot express. */
  faults: UnsupportedField[]
}
