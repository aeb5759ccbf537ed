import type { ChatRequest, Loss, Unsupported } from '../../middle.ts'

/** What every item needs to know of the request that it belongs to. */
export interface InputScope {
  request: ChatRequest
  /** The client speaks this format too, so what only it can say is said again. */
  isOwn: boolean
  nameOf(name: string): string
  idOf(callId: string): string
  losses: Loss[]
  /** Gets what this format cannot say. */
  faults: Unsupported[]
}
