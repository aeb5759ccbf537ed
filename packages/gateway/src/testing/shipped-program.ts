import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freshProgram } from '../../../../scripts/fresh-program.mjs'

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

const modules = new Map<keyof typeof FILES, string>()

/**
 * The module that the script of a program would run. In a checkout, each start of the script looks for changed sources,
 * which takes a tenth of a second of CPU; this function looks once in a process.
 */
export function builtProgram(name: keyof typeof FILES): string {
  const known = modules.get(name)
  if (known !== undefined) return known
  const folder = process.env['PORTICO_INSTALLED'] === undefined ? freshProgram(name) : null
  const module = folder === null ? shippedProgram(name) : join(folder, basename(FILES[name]).replace('.mjs', '.js'))
  modules.set(name, module)
  return module
}

/**
 * The module of a worker thread of the built program. A thread that runs the sources loads hundreds of files, which takes
 * almost a second of CPU.
 */
export function builtWorker(): string {
  return join(dirname(builtProgram('gateway')), 'worker.js')
}
