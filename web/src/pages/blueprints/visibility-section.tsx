import { Radio, Stack } from '@mantine/core'
import { confirm, ErrorNote, notifyDone } from '../../parts'
import { Section } from './section'
import { type Blueprint, useUpdate } from '../../api/use-blueprint'

/** Who may see a blueprint. A change asks first and is saved at once. */
export function VisibilitySection({ blueprint, allowed }: { blueprint: Blueprint; allowed: boolean }) {
  const update = useUpdate(blueprint.id)
  const choose = async (visibility: string) => {
    if (visibility === blueprint.visibility) return
    const agreed =
      visibility === 'private' ||
      (await confirm({
        title: 'Make it public?',
        text: 'Everybody with an account on this server can then find it, look at its steps, run it and rate it. They get none of its secrets and connections: steps that need them fail in their runs. You can make it private again at any time.',
        action: 'Make it public',
      }))
    if (agreed)
      update.mutate(
        { visibility },
        {
          onSuccess: () =>
            notifyDone(visibility === 'public' ? 'Everybody on this server can see it now' : 'It is private again'),
        },
      )
  }
  const text = allowed
    ? undefined
    : 'Only its creator, admins of its organization and collaborators who are admins can change this.'
  return (
    <Section title="Visibility" text={text}>
      <Radio.Group
        value={update.isPending ? update.variables.visibility : blueprint.visibility}
        onChange={(value) => void choose(value)}
        aria-label="Visibility"
      >
        <Stack gap="sm">
          <Radio
            value="private"
            disabled={!allowed}
            label="Private"
            description="The members of its organization see, run and edit it, and so do the collaborators below."
          />
          <Radio
            value="public"
            disabled={!allowed}
            label="Public"
            description="Everybody with an account on this server can look at its steps and run it, too. Strangers see their own runs only, and get none of its secrets."
          />
        </Stack>
      </Radio.Group>
      <ErrorNote error={update.error} title="It was not changed" />
    </Section>
  )
}
