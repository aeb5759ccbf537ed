import { UpstreamError } from './upstream-types.ts'

/**
 * The backend's HTTP/2 has no way to carry another protocol (RFC 8441): nothing was sent. That holds for all of its
 * connections, and says nothing of how the backend does.
 */
export class NoTunnels extends UpstreamError {
  constructor() {
    super('bad_response', 'backend does not take other protocols over HTTP/2', true)
  }
}
