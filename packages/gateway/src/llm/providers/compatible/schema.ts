import { model } from '../../../schema/fields/llm-providers.ts'
import { object, type Schema } from '../../../schema/kit.ts'
import { otherRule } from '../../../schema/rules.ts'
import type { OpenaiConfig } from '../openai/schema.ts'
import { type Preset, type PresetName, presetNames, presets } from '../presets.ts'

type PresetKeys = { readonly [Name in PresetName]: Schema<OpenaiConfig | undefined, true> }

/** One key for each vendor of the table `presets`. */
export const presetKeys = Object.fromEntries(
  presetNames.map((name) => [name, object({ model: model() }).optional().describe(descriptionOf(presets[name]))]),
) as PresetKeys

function descriptionOf({ title, host }: Preset): string {
  return host === null ? `A server that runs ${title}; set \`host\`.` : `${title}, at \`${host}\`.`
}

const ownServers = presetNames.filter((name) => presets[name].host === null)
const anyOwnServer = ownServers.map((name) => `has(self.${name})`).join(' || ')

/** No address is assumed: 127.0.0.1 of a gateway in a container or a cluster is not the machine of the server. */
export const ownServersNeedHosts = otherRule(
  `host or inferencePool is required with ${ownServers.join(', ')}`,
  `!(${anyOwnServer}) || has(self.host) || has(self.inferencePool)`,
  (provider) =>
    ownServers.every((name) => provider[name] === undefined) ||
    provider['host'] !== undefined ||
    provider['inferencePool'] !== undefined,
)
