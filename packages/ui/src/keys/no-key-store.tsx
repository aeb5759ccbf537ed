import { Copy } from '../parts/copy.tsx'
import { Empty } from '../parts/states.tsx'

/** The parts of a config that keep keys, and accept them on a route. */
const KEYS_CONFIG = `config:
  stateDir: state
  keys: {}
binds:
- port: 8080
  listeners:
  - routes:
    - policies:
        apiKeyAuthentication:
          store: {}
`

export function NoKeyStore() {
  return (
    <Empty title="The gateway keeps no keys">
      <p>
        Each app or person can have a key of its own, with models, limits and budgets. Keys are kept in a file, as
        hashes, and change while the gateway runs. Put <code>config.keys</code> into the config file, and{' '}
        <code>apiKeyAuthentication.store</code> into the policies of a route; then start the gateway again.{' '}
        <Copy text={KEYS_CONFIG} label="Copy the config" />
      </p>
      <pre className="mono">{KEYS_CONFIG}</pre>
    </Empty>
  )
}
