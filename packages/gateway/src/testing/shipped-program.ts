import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const FILES = {
  gateway: 'bin/portico.mjs',
  ctl: 'bin/porticoctl.mjs',
  controller: 'bin/portico-controller.mjs',
} as const

/**
 * The script that starts a program: of the packages that are installed in the folder `PORTICO_INSTALLED`, which is what
 * people run, or else of this checkout, which builds the program when its sources have changed.
 */
export function shippedProgram(name: keyof typeof FILES): string {
  const installed = process.env['PORTICO_INSTALLED']
  if (installed !== undefined) return join(installed, 'node_modules/@portico', name, FILES[name])
  return fileURLToPath(new URL(`../../../${name}/${FILES[name]}`, import.meta.url))
}
