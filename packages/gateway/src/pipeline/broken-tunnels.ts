import { UpstreamError } from '../upstream/upstream-types.ts'

/** Why a tunnel broke, by the side whose connection did. */
export const brokenTunnels = {
  backend: new UpstreamError('connection_lost', 'backend connection broke inside the tunnel', false),
  client: new Error('client connection broke inside the tunnel'),
}
