/* What the pages of Pclouds do without being loaded again. */
(function () {
  'use strict';

  // Milliseconds between two looks at servers that are being moved.
  var SOON = 5000;
  var SELDOM = 60000;

  // Angular draws a message when it looks for changes, which nothing but its
  // own calls makes it do.
  function tell(type, words) {
    horizon.toast.add(type, words);
    angular.element(document.body).injector().get('$rootScope').$applyAsync();
  }

  // A switch of a host: the row of the host alone is drawn anew.
  $(document).on('submit', 'form.pcloud-switch', function (event) {
    var form = $(this);
    var button = form.find('button');
    event.preventDefault();
    button.prop('disabled', true);
    $.ajax({type: 'POST', url: form.attr('action'), data: form.serialize()})
      .done(function (answer) {
        if (answer.failure) {
          button.prop('disabled', false);
          tell('error', answer.failure);
          return;
        }
        var row = $($.parseHTML($.trim(answer.row)));
        form.closest('tr').replaceWith(row);
        row.find('button[role=switch]').trigger('focus');
        tell('success', answer.message);
      })
      .fail(function (answer) {
        if (leaveIfEnded(answer)) {
          return;
        }
        button.prop('disabled', false);
        tell('error', gettext('The page could not be reached. Please try again.'));
      });
  });

  // Whoever is logged in no more is led to the login, and from there back.
  function leaveIfEnded(answer) {
    if (answer.status !== 401) {
      return false;
    }
    window.location.assign(answer.getResponseHeader('X-Horizon-Location') ||
                           window.location.href);
    return true;
  }

  // The head of a Pcloud's page, which the page does not wait for.
  function fetchHead() {
    fetchPart($('#pcloud-head'), gettext('Reading how full the Pcloud is …'),
              gettext('How full the Pcloud is could not be read.'));
  }

  // The audit looks at all that is written about Pclouds, and takes its time.
  function fetchAudit() {
    fetchPart($('#pcloud-audit'), gettext('The audit is under way …'),
              gettext('The findings could not be read.'));
  }

  function fetchPart(part, busy, failed) {
    if (!part.length) {
      return;
    }
    part.attr('aria-busy', 'true').text(busy);
    $.get(part.attr('data-address'))
      .done(function (answer) {
        part.empty().append($.parseHTML(answer));
      })
      .fail(function (answer) {
        if (!leaveIfEnded(answer)) {
          part.text(failed);
        }
      })
      .always(function () {
        part.removeAttr('aria-busy');
      });
  }

  // Whoever closes a dialog of ours is back where it was opened.
  var opener = null;
  $(document).on('click', '.ajax-modal[href*="/pclouds/"], .ajax-modal[href*="/host_flavors/"]', function () {
    opener = this;
  });
  $(document).on('hidden.bs.modal', '.modal', function () {
    if (opener && $.contains(document, opener) && !$('.modal.in').length) {
      opener.focus();
    }
  });

  // Horizon gives the first field of a dialog the focus. In the one for hosts
  // that is the requirement: a key there would change the kind that is chosen.
  $(document).on('shown.bs.modal', '.modal', function () {
    var kind = $(this).find('form.pcloud-add-hosts [name=host_flavor]:checked');
    setTimeout(function () {
      kind.trigger('focus');
    });
  });

  // A button that copies an id. Without an encrypted connection browsers have
  // no clipboard for pages, but copy what is chosen.
  $(document).on('click', '.pcloud-copy', function () {
    var button = $(this);
    var field = $('<input>').val(button.attr('data-copy')).insertAfter(button);
    field.trigger('select');
    var copied = document.execCommand('copy');
    field.remove();
    button.trigger('focus');
    tell(copied ? 'success' : 'error', copied
      ? gettext('The ID is copied.') : gettext('The ID could not be copied.'));
  });

  // Another kind of scope has other ids to choose from.
  $(document).on('change', '#pcloud-scope', function () {
    $('#pcloud-scope-id').prop('disabled', true);
    this.form.submit();
  });

  // The dialog for more hosts: what is free in the zone, names and units.
  function freeIn(radio, zone) {
    return (radio.attr('data-free') || '').split(' ').filter(Boolean)
      .reduce(function (sum, each) {
        var end = each.lastIndexOf(':');
        return sum + (!zone || each.slice(0, end) === zone ? parseInt(each.slice(end + 1), 10) : 0);
      }, 0);
  }

  function namesOf(pattern, count, taken) {
    if (!/-\{n\}$/.test(pattern)) {
      if (count === 1) {
        return [pattern];
      }
      pattern += '-{n}';
    }
    var beginning = pattern.slice(0, -3);
    var highest = taken.reduce(function (number, name) {
      var rest = name.slice(beginning.length);
      return name.indexOf(beginning.toLowerCase()) === 0 && /^\d{1,6}$/.test(rest)
        ? Math.max(number, parseInt(rest, 10)) : number;
    }, 0);
    var names = [];
    while (names.length < count) {
      names.push(beginning + (highest + names.length + 1));
    }
    return names;
  }

  function text(format, values) {
    return interpolate(format, values, true);
  }

  function preview(form) {
    var zone = form.find('[name=availability_zone]').val();
    var waits = !!form.find('[name=wait_until]').val();
    form.find('[name=host_flavor][data-units]').each(function () {
      var radio = $(this);
      var card = radio.closest('.pcloud-card');
      var free = freeIn(radio, zone);
      radio.prop('disabled', !free && !waits);
      card.toggleClass('pcloud-none', !free && !waits);
      card.find('.pcloud-not-here').prop('hidden', free || !radio.attr('data-free'))
        .text(text(gettext('none free in %(zone)s'), {zone: zone}));
      if (!free && !waits && radio.prop('checked')) {
        radio.prop('checked', false);
      }
    });
    var count = Math.min(50, Math.max(1, parseInt(form.find('[name=count]').val(), 10) || 1));
    var taken = (form.attr('data-taken') || '').toLowerCase().split(' ');
    form.find('.pcloud-preview-names').text(
      namesOf(form.find('[name=name]').val(), count, taken).join(', ') + '.');
    var chosen = form.find('[name=host_flavor]:checked');
    var limit = parseInt(form.attr('data-limit'), 10);
    var used = parseInt(form.attr('data-used'), 10);
    var line = '';
    var over = false;
    var free = freeIn(chosen, zone);
    if (chosen.attr('data-units') && !isNaN(limit)) {
      var after = used + count * parseInt(chosen.attr('data-units'), 10);
      over = limit >= 0 && after > limit;
      line = limit < 0
        ? text(gettext('Units: %(used)s before, %(after)s after, no limit.'),
               {used: used, after: after})
        : text(gettext('Units: %(used)s of %(limit)s before, %(after)s of %(limit)s after.'),
               {used: used, after: after, limit: limit});
      if (over) {
        line += ' ' + text(gettext('That is %(more)s more than the quota allows.'),
                           {more: after - limit});
      }
      if (count > free && waits) {
        line += ' ' + text(gettext('%(free)s of this kind are free; the Pcloud waits for the others.'),
                           {free: free});
      } else if (count > free) {
        over = true;
        line += ' ' + text(gettext('No more than %(free)s of this kind are free.'), {free: free});
      }
    }
    form.find('.pcloud-preview').toggleClass('pcloud-over', over)
      .find('.pcloud-preview-units').text(line);
  }

  $(document).on('input change', 'form.pcloud-add-hosts', function () {
    preview($(this));
  });
  // Not on focus: Horizon gives the first field of a dialog the focus.
  $(document).on('input', 'form.pcloud-add-hosts [name=constraints]', function () {
    $(this).closest('.pcloud-card').find('[type=radio]').prop('checked', true);
    preview($(this.form));
  });
  function prepare(part) {
    $(part).find('form.pcloud-add-hosts').each(function () {
      preview($(this));
    });
  }
  horizon.modals.addModalInitFunction(prepare);
  $(function () {
    prepare(document);
    follow();
    fetchHead();
    fetchAudit();
  });

  // Parts of a page that are going to change by themselves are read again and
  // again, until nothing is pending: hosts that drain or start servers, and
  // servers that are being moved. What is half written beside stays.
  horizon.tabs.addTabLoadFunction(follow);

  function follow() {
    $('.pcloud-live').each(function () {
      var part = $(this);
      if (part.find('.pcloud-pending').length && !part.hasClass('pcloud-followed')) {
        part.addClass('pcloud-followed');
        lookLater(part, SOON);
      }
    });
    showChosen();
  }

  function lookLater(part, wait) {
    setTimeout(function () {
      look(part, wait);
    }, wait);
  }

  function look(part, wait) {
    if (!$.contains(document, part[0])) {
      return;
    }
    if (document.hidden || !part.is(':visible') || isRead(part)) {
      lookLater(part, SOON);
      return;
    }
    var began = Date.now();
    $.get(part.attr('data-address'))
      .done(function (answer) {
        var fresh = $('<div>').append($.parseHTML(answer)).find('#' + part[0].id);
        if (!fresh.length) {
          part.removeClass('pcloud-followed');
          return;
        }
        var isNew = essence(fresh) !== essence(part);
        if (isNew) {
          renew(part, fresh);
        }
        if (!part.find('.pcloud-pending').length) {
          part.removeClass('pcloud-followed');
          return;
        }
        // A busy cloud, and moves that take long, are asked less often.
        var least = Math.max(SOON, 4 * (Date.now() - began));
        lookLater(part, isNew ? least : Math.min(SELDOM, Math.max(least, 1.5 * wait)));
      })
      .fail(function (answer) {
        if (leaveIfEnded(answer) || answer.status === 403) {
          part.removeClass('pcloud-followed');
          return;
        }
        lookLater(part, Math.min(SELDOM, 2 * wait));
      });
  }

  // Whoever has chosen text or a link of the part would lose it.
  function isRead(part) {
    var chosen = window.getSelection();
    var focus = document.activeElement;
    return !chosen.isCollapsed && $.contains(part[0], chosen.anchorNode) ||
      $.contains(part[0], focus) && !focus.id || $('.modal.in').length > 0;
  }

  // What the user sees; each answer has another token against forgery.
  function essence(part) {
    var copy = part.clone();
    copy.find('[name=csrfmiddlewaretoken]').remove();
    return copy.html();
  }

  function renew(part, fresh) {
    var focus = document.activeElement;
    var kept = $.contains(part[0], focus) ? focus.id : null;
    var chosen = part.find('.pcloud-choose-host:checked').map(function () {
      return this.id;
    }).get();
    tellOfHosts(part, fresh);
    part.attr('data-hosts', fresh.attr('data-hosts'));
    part.empty().append(fresh.contents());
    part.find('.pcloud-choose-host').prop('checked', function () {
      return chosen.indexOf(this.id) >= 0;
    });
    showChosen();
    if (kept) {
      (document.getElementById(kept) || part[0]).focus();
    }
    $('#pcloud-moves-news').text(part.find('#pcloud-left, #pcloud-stopped, #pcloud-plan').first().text());
  }

  // Which hosts have come and gone since the page was read.
  function tellOfHosts(part, fresh) {
    var news = $('#pcloud-hosts-news');
    if (part[0].id !== 'pcloud-hosts-part' || !news.length) {
      return;
    }
    var before = hostsOf(part);
    var after = hostsOf(fresh);
    var time = new Date().toLocaleTimeString(horizon.languageCode, {hour: '2-digit', minute: '2-digit'});
    before.forEach(function (name) {
      if (after.indexOf(name) < 0) {
        var why = $(document.getElementById('pcloud-host-' + name)).attr('data-left');
        var format = why ? gettext('%(time)s %(host)s left the Pcloud: %(why)s.')
          : gettext('%(time)s %(host)s left the Pcloud.');
        $('<li>').text(text(format, {time: time, host: name, why: why})).appendTo(news);
      }
    });
    after.forEach(function (name) {
      if (before.indexOf(name) < 0) {
        $('<li>').text(text(gettext('%(time)s %(host)s joined the Pcloud.'), {time: time, host: name}))
          .appendTo(news);
      }
    });
    fetchHead();
  }

  function hostsOf(part) {
    return (part.attr('data-hosts') || '').split(' ').filter(Boolean);
  }

  // Several hosts at once: how many are chosen.
  function showChosen() {
    var form = $('#pcloud-bulk');
    if (!form.length) {
      return;
    }
    var boxes = $('.pcloud-choose-host');
    var count = boxes.filter(':checked').length;
    form.find('.pcloud-all').prop('hidden', !boxes.length);
    $('#pcloud-all').prop('checked', count > 0 && count === boxes.length)
      .prop('indeterminate', count > 0 && count < boxes.length);
    form.find('button').prop('disabled', !count);
    form.find('.pcloud-number-chosen').text(text(ngettext(
      '%(count)s host is chosen:', '%(count)s hosts are chosen:', count), {count: count}));
  }

  $(document).on('change', '.pcloud-choose-host', showChosen);
  $(document).on('change', '#pcloud-all', function () {
    $('.pcloud-choose-host').prop('checked', this.checked);
    showChosen();
  });

  // While many hosts are added it is told how far that is. Horizon takes a
  // dialog away that is sent, and shows a sign of its own instead.
  $(document).on('submit', 'form.pcloud-add-hosts', function () {
    var form = $(this);
    var isDialog = form.closest('.modal').length > 0;
    setTimeout(function () {
      showProgress(form, isDialog ?
        $('<p class="pcloud-progress" role="status">').appendTo(
          horizon.modals.spinner.find('.modal-body')) :
        form.find('.pcloud-progress').prop('hidden', false).empty());
    });
  });

  function showProgress(form, place) {
    var count = parseInt(form.find('[name=count]').val(), 10) || 1;
    var enables = form.find('[name=enable]').prop('checked');
    var had = (form.attr('data-taken') || '').split(' ').filter(Boolean).length;
    var enabledBefore = null;
    var began = Date.now();
    var bar = $('<progress>').attr({max: count * (enables ? 2 : 1), value: 0,
                                    'aria-label': gettext('Hosts that are added')});
    var words = $('<span>');
    place.append(bar, ' ', words);
    ask();

    function ask() {
      if (!$.contains(document, place[0])) {
        return;
      }
      $.get(form.attr('data-progress')).done(function (found) {
        if (found.failure) {
          return;
        }
        enabledBefore = enabledBefore === null ? found.enabled : enabledBefore;
        var added = Math.max(0, found.hosts - had);
        var enabled = enables ? Math.max(0, found.enabled - enabledBefore) : 0;
        bar.attr('value', added + enabled);
        words.text(text(
          enables ? gettext('%(added)s of %(count)s are added, %(enabled)s enabled (%(seconds)s s).')
            : gettext('%(added)s of %(count)s are added (%(seconds)s s).'),
          {added: added, count: count, enabled: enabled,
           seconds: Math.round((Date.now() - began) / 1000)}));
      }).always(function () {
        setTimeout(ask, 1500);
      });
    }
  }
})();
