import { implement } from '../../../pipeline/step.ts'
import type { UpstreamHandler } from '../../../upstream/contract.ts'
import { discardingSink } from '../../../net/body.ts'
import { TeeBody } from './tee-body.ts'
import type { RequestMirrorConfig } from './schema.ts'

export const requestMirror = implement<RequestMirrorConfig>((config, env) => {
  const client = env.client(config.backend)
  const share = config.percentage / 100
  return {
    request(rx) {
      if (rx.exchange.upgrade !== '' || rx.method === 'CONNECT') return
      if (share < 1 && env.random() >= share) return
      const tee = rx.body.length === 0 ? null : new TeeBody(rx.body, env.maxBufferBytes)
      if (tee !== null) rx.body = tee
      const headers = rx.headers.clone()
      // Whoever watches traffic has no business with what opens accounts.
      for (const name of CREDENTIALS) headers.remove(name)
      const call = client.send(
        {
          method: rx.method,
          target: rx.upstreamTarget,
          authority: client.hostname ?? rx.authority,
          scheme: rx.scheme,
          headers,
          body: tee === null ? rx.body : tee.copy,
          upgrade: '',
          teTrailers: false,
        },
        { clientVersion: rx.exchange.version, clientScheme: rx.scheme, connectingTo: () => {} },
        ignoreAnswer,
      )
      tee?.onOverflow(() => call.cancel(new Error('mirror is too slow')))
    },
  }
})

const CREDENTIALS = ['authorization', 'cookie', 'proxy-authorization']

const ignoreAnswer: UpstreamHandler = {
  informed: () => {},
  responded: (response) => response.body.pipe(discardingSink(() => {})),
  upgraded: (_status, _headers, raw) => raw.socket.destroy(),
  failed: () => {},
}
