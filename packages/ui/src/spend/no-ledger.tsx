import { Copy } from '../parts/copy.tsx'
import { Empty } from '../parts/states.tsx'

/** The part of a config that turns the ledger on. */
const LEDGER_CONFIG = `config:
  stateDir: state
  ledger: {}
`

export function NoLedger() {
  return (
    <Empty title="The gateway has no ledger">
      <p>
        The ledger keeps an entry of each model call, with tokens and cost. Put this into the config file, and start the
        gateway again. <Copy text={LEDGER_CONFIG} label="Copy the config" />
      </p>
      <pre className="mono">{LEDGER_CONFIG}</pre>
      <p>
        The policy <code>prices</code> of a route or backend computes the cost of calls.
      </p>
    </Empty>
  )
}
