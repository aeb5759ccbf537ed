import { list, object } from '../schema/kit.ts'
import type { Output } from '../schema/kit.ts'
import { namedBackend } from './backends/schema.ts'
import { bind } from './binds/schema.ts'
import { processConfig } from './config/schema.ts'
import { llmShortForm } from './llm/schema.ts'
import { frontendBlock, targetedPolicy } from './policies/schema.ts'

/** The config file. */
export const configFile = object({
  config: processConfig
    .prefault({})
    .describe('Settings of the process, read at start; environment variables take precedence.'),
  frontend: frontendBlock().prefault({}).describe('Policies for all incoming connections.'),
  backends: list(namedBackend, { max: 10_000 }).prefault([]).describe('Named backends.'),
  policies: list(targetedPolicy, { max: 10_000 })
    .prefault([])
    .describe(
      'Policies that name the objects they apply to. If two policies set the same field for an object, the first takes precedence.',
    ),
  binds: list(bind, { max: 1_024 }).prefault([]).describe('Ports with their listeners.'),
  llm: llmShortForm
    .optional()
    .describe(
      'A port that serves language models, in short: `portico --print-expanded` prints the bind, the listener and the route that it stands for.',
    ),
}).describe('The config file of the gateway.')

export type ConfigFile = Output<typeof configFile>
