(function () {
  'use strict';

  angular
    .module('pcloud.dashboard')
    .controller('LaunchInstancePcloudController', LaunchInstancePcloudController);

  LaunchInstancePcloudController.$inject = [
    '$scope',
    'horizon.framework.util.http.service',
    'launchInstanceModel'
  ];

  /* Chooses the Pcloud of the new server, and tells the capacity for it. */
  function LaunchInstancePcloudController($scope, http, model) {
    var ctrl = this;
    var context = $scope.launchContext || {};
    var asked;

    ctrl.items = [];
    ctrl.loaded = false;
    ctrl.failure = null;
    ctrl.room = null;
    ctrl.choice = context.pcloud || '';
    ctrl.choose = choose;

    choose();
    http.get('/api/pcloud/pclouds/').then(function (answer) {
      ctrl.items = answer.data.items;
      ctrl.failure = answer.data.failure;
      ctrl.loaded = true;
      explain();
    });

    $scope.$watch(function () {
      var spec = model.newInstanceSpec;
      return [ctrl.choice, spec.flavor && spec.flavor.id].join(' ');
    }, function () {
      // The model may have been made anew since the dialog was opened.
      choose();
      explain();
    });

    function choose() {
      var hints = model.newInstanceSpec.scheduler_hints;
      if (ctrl.choice) {
        hints.pcloud = ctrl.choice;
      } else {
        delete hints.pcloud;
      }
    }

    function explain() {
      var flavor = model.newInstanceSpec.flavor;
      var chosen = ctrl.items.filter(function (each) {
        return each.id === ctrl.choice;
      })[0];
      ctrl.room = null;
      if (!chosen || !chosen.is_own || !flavor) {
        return;
      }
      var question = asked = {};
      http.get('/api/pcloud/pclouds/' + chosen.id + '/explain/',
               {params: {flavor: flavor.id}}).then(function (answer) {
        // A later choice has asked for another capacity.
        if (question === asked) {
          ctrl.room = answer.data;
        }
      });
    }
  }
})();
