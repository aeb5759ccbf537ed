import { implement } from '../../../pipeline/context/step.ts'
import type { UpgradesConfig } from './schema.ts'

export const upgrades = implement<UpgradesConfig>((config) => {
  const allowed = new Set(config.protocols.map((protocol) => protocol.toLowerCase()))
  return {
    request: (rx) => {
      rx.upgrades = allowed
    },
  }
})
