/** A value of a config, as JSON has it. */
export type Plain = null | boolean | number | string | Plain[] | { [key: string]: Plain }
