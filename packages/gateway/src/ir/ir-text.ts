import type { Ir } from './resources.ts'

/** A config as it goes from thread to thread: as text it takes half the time and memory there that a clone of thousands of objects takes. */
export type IrText = string & { readonly isIr: true }

export function textOfIr(ir: Ir): IrText {
  return JSON.stringify(ir) as IrText
}

export function irOfText(text: IrText): Ir {
  return JSON.parse(text) as Ir
}
