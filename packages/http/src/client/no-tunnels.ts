import { UpstreamError } from './upstream-types.ts'

/**
 * The backend does not support other protocols over HTTP/2 (RFC 8441); nothing was sent. This holds for all its
 * connections, and says nothing about the backend's health.
 */
export class NoTunnels extends UpstreamError {
  constructor() {
    super('bad_response', 'backend does not support upgrades over HTTP/2', true)
  }
}
