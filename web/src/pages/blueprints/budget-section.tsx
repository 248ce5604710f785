import { Button, Group, NumberInput, Radio, SimpleGrid, Stack } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { issueFor } from '../../api/errors'
import { ErrorNote, notifyDone } from '../../parts'
import { Section } from './section'
import { type Blueprint, useUpdate } from './use-blueprint'

/** What one run may spend on AI models and tools. */
export function BudgetSection({ blueprint }: { blueprint: Blueprint }) {
  const update = useUpdate(blueprint.id)
  const stored = blueprint.budget
  const [tokens, setTokens] = useState<number | string>(stored?.tokens ?? '')
  const [calls, setCalls] = useState<number | string>(stored?.calls ?? '')
  const [onBreach, setOnBreach] = useState(stored?.onBreach ?? 'fail')
  const none = tokens === '' && calls === ''
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const budget = none ? {} : { ...(tokens === '' ? {} : { tokens }), ...(calls === '' ? {} : { calls }), onBreach }
    update.mutate({ budget }, { onSuccess: () => notifyDone(none ? 'Runs have no budget any more' : 'Saved. Runs that start from now on keep to it.') })
  }
  const at = (field: string) => (update.error ? issueFor(update.error, `budget.${field}`) : undefined)
  const changed = tokens !== (stored?.tokens ?? '') || calls !== (stored?.calls ?? '') || (!none && onBreach !== (stored?.onBreach ?? 'fail'))
  return (
    <Section title="Budget of a run" text="How much one run may spend on AI models. Empty is no limit.">
      <form onSubmit={submit}>
        <Stack gap="sm">
          <SimpleGrid cols={{ base: 1, xs: 2 }}>
            <NumberInput label="Tokens" description="Of all AI calls together" placeholder="No limit" value={tokens} onChange={setTokens} min={0} max={Number.MAX_SAFE_INTEGER} allowDecimal={false} allowNegative={false} thousandSeparator="," error={at('tokens')} hideControls />
            <NumberInput label="Calls" description="Of AI models" placeholder="No limit" value={calls} onChange={setCalls} min={0} max={Number.MAX_SAFE_INTEGER} allowDecimal={false} allowNegative={false} thousandSeparator="," error={at('calls')} hideControls />
          </SimpleGrid>
          {!none && (
            <Radio.Group label="When it is spent" value={onBreach} onChange={setOnBreach} error={at('onBreach')}>
              <Stack gap="xs" mt={6}>
                <Radio value="fail" label="The run fails" />
                <Radio value="pause" label="The run waits until somebody who manages it allows more" />
              </Stack>
            </Radio.Group>
          )}
          <ErrorNote error={update.error} title="It was not saved" />
          <Group justify="flex-end"><Button type="submit" disabled={!changed} loading={update.isPending}>Save</Button></Group>
        </Stack>
      </form>
    </Section>
  )
}
